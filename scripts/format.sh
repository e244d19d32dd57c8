#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# format.sh [--check]: formats all C++ sources with clang-format 14, whose choices other versions don't share; with
# --check it changes nothing and fails where a file would change. Without that version it says so and does nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,4s/^# //p' scripts/format.sh; exit 0; }
for tool in clang-format-14 clang-format; do
    command -v "$tool" >/dev/null && "$tool" --version | grep -q 'version 14\.' && break
    tool=
done
[[ -n $tool ]] || { echo "format.sh: there is no clang-format 14 here; nothing was done" >&2; exit 0; }
mode=-i
[[ ${1:-} == --check ]] && mode="--dry-run --Werror"
# shellcheck disable=SC2086
find app balance comm gpu md predict tests examples -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' | xargs "$tool" $mode
