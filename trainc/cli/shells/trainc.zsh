#compdef trainc
# Completion of trainc for zsh: put it into a folder of $fpath as _trainc, before compinit runs.
_trainc() {
    local -a found
    found=("${(@f)$(trainc completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n ${found[1]} ]]; then
        if [[ ${found[1]} == *. ]]; then compadd -S '' -- $found; else compadd -- $found; fi
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _trainc ]]; then _trainc "$@"; else compdef _trainc trainc; fi
