#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# format.sh [--check]: formats all C++ sources with clang-format 14 and all Python sources with black 23, and runs
# flake8 on the Python sources. Other versions format differently. So a formatter that is missing or of another version
# is named and left out. --check changes no file, and fails if a file would change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
check=no
case ${1:-} in
    -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/format.sh; exit 0 ;;
    --check) check=yes ;;
    '') ;;
    *) echo "format.sh: unknown option $1; see --help" >&2; exit 2 ;;
esac
failed=0
sources() {  # -name PATTERN [-o -name PATTERN ...]
    find . \( -name '.?*' -o -name build -o -name 'build-*' -o -name out -o -name results \) -prune -o \( "$@" \) -print0
}

clang=$(command -v clang-format-14 || command -v clang-format || true)
if [[ -n $clang ]] && "$clang" --version | grep -q 'version 14\.'; then
    mode=-i
    [[ $check == yes ]] && mode="--dry-run --Werror"
    # shellcheck disable=SC2086
    sources -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' | xargs -0 "$clang" $mode || failed=1
else
    echo "format.sh: there is no clang-format 14 here; C++ was left out" >&2
fi
if command -v black >/dev/null && black --version | grep -q ' 23\.'; then
    mode=
    [[ $check == yes ]] && mode=--check
    sources -name '*.py' | xargs -0 black -q $mode ||
        { failed=1; echo "format.sh: black would change Python sources; scripts/format.sh does" >&2; }
else
    echo "format.sh: there is no black 23 here; the format of Python was left out" >&2
fi
if command -v flake8 >/dev/null; then
    sources -name '*.py' | xargs -0 flake8 || failed=1
else
    echo "format.sh: there is no flake8 here; Python was not read" >&2
fi
exit $failed
