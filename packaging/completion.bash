# SPDX-License-Identifier: MIT
# Completion of subcommands, options and file names in bash. Commands and options are those of the program's own --help.
_steelyard() {
    local word=${COMP_WORDS[COMP_CWORD]} command=() words
    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]] && command=("${COMP_WORDS[1]}")
    words=$("$1" "${command[@]}" --help 2>/dev/null |
        sed -n 's/^  \(-[^ ]*\) .*/\1/p; /^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | tr , '\n')
    [[ $COMP_CWORD -eq 1 || $word == -* ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _steelyard steelyard
