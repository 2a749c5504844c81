"""`trainc completion`: what shells need to complete a command line."""

from __future__ import annotations

from trainc.cli.shared.candidates import candidates
from trainc.cli.shared.output import answer, data
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.cli.shared.options import Command, Options

# Where trainc has no candidate, each shell completes files.
_BASH = """\
# Completion of trainc for bash: source <(trainc completion bash)
_trainc() {
    local IFS=$'\\n'
    COMPREPLY=($(trainc completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    case ${COMPREPLY[0]-} in *.) compopt -o nospace ;; esac
}
complete -o default -F _trainc trainc
"""
_ZSH = """\
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
"""
_FISH = """\
# Completion of trainc for fish.
function __trainc_words
    set -l words (commandline -opc) (commandline -ct)
    set -l found (trainc completion words -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c trainc -f -a '(__trainc_words)'
"""
SHELLS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def completion(options: Options, commands: Mapping[str, Command]) -> int:
    """Print the script of a shell, or the candidates for the last of the words."""
    verb = options.arguments[0] if options.arguments else ""
    if verb == "words":
        answer(*candidates(options.tail, commands))
        return 0
    if verb not in SHELLS or len(options.arguments) > 1:
        hint = meant(verb, SHELLS, "see trainc completion --help") if verb else "see trainc completion --help"
        raise Trouble(f"usage: trainc completion bash|zsh|fish; {hint}")
    data(SHELLS[verb])
    return 0
