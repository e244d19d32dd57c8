#!/bin/sh
# SPDX-License-Identifier: MIT
# Fails if an object file defines a weak or unique symbol.
for object in "$@"; do
    if nm -C "$object" | grep -E ' [WVu] '; then
        echo "$object defines code that the linker may share with other processors' builds"
        exit 1
    fi
done
echo "checked $# object files"
[ $# -gt 0 ]
