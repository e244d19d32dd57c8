#!/bin/sh
# SPDX-License-Identifier: MIT
# man_page.sh PROGRAM VERSION: prints a man page, made from PROGRAM --help and from the --help of its subcommands.
set -eu
program=$1 version=$2 name=$(basename "$1")

# In a help, a line without indent and with a colon at its end is a heading. A line with an indent of two begins with a
# term; two blanks or more stand between the term and its explanation. A deeper indent continues the explanation. An
# explanation begins with \&, because a dot at the start of a line would be a macro.
# macro: that of headings.
page() {  # macro
    awk -v macro="$1" '
        { gsub(/\\/, "\\e"); gsub(/-/, "\\-") }
        example && !/^ / { print ".fi"; example = 0 }
        /^$/ { next }
        /^Usage: / { print macro " " (macro == ".SH" ? "SYNOPSIS" : "Usage"); print substr($0, 8); next }
        /^Example.*:$/ { print ".SS " $0; print ".nf"; example = 1; next }
        example { print; next }
        /^[^ ].*:$/ { sub(/:$/, ""); print macro " " (macro == ".SH" ? toupper($0) : $0); next }
        /^  [^ ]/ {
            term = substr($0, 3); text = ""
            if (match(term, /   *[^ ]/)) {
                text = substr(term, RSTART + RLENGTH - 1)
                term = substr(term, 1, RSTART - 1)
            }
            print ".TP"; print ".B \"" term "\""; if (text != "") print "\\&" text; indented = 1; next
        }
        /^ / { sub(/^ */, ""); print "\\&" $0; next }
        { if (indented) print ".PP"; indented = 0; print }
        END { if (example) print ".fi" }'
}

help=$("$program" --help)
echo ".TH $(echo "$name" | tr '[:lower:]' '[:upper:]') 1 \"\" \"Steelyard $version\""
echo .SH NAME
echo "$name \\- $(echo "$help" | sed '1!d; s/^Steelyard: //')"
echo "$help" | sed 1d | page .SH
for command in $(echo "$help" | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    echo ".SH $name $command"
    # Exit codes and environment stand above.
    "$program" "$command" --help | sed '/^Exit codes:/,$d' | page .SS
done
