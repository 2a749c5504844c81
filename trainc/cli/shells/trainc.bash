# Completion of trainc for bash: source <(trainc completion bash)
_trainc() {
    local IFS=$'\n'
    COMPREPLY=($(trainc completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    case ${COMPREPLY[0]-} in *.) compopt -o nospace ;; esac
}
complete -o default -F _trainc trainc
