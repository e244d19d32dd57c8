#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test.sh [CTEST OPTIONS]: sets up, builds with warnings as errors, runs all tests not labelled slow, gpu, smpi or arm.
# `scripts/test.sh -L slow` runs the slow ones. --smoke only builds the program, and runs its selftest on two ranks: ten
# seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,6s/^# //p' scripts/test.sh; exit 0; }
if [[ ${1:-} == --smoke ]]; then
    TARGET=steelyard scripts/build.sh
    exec "$(command -v mpiexec.mpich || echo mpiexec)" -n 2 build/steelyard selftest
fi
scripts/setup.sh --format --browser
scripts/format.sh --check
scripts/build.sh default -DSTEELYARD_WERROR=ON
labels=(-LE 'slow|gpu|smpi|arm')
if [[ " $* " == *" -L slow "* ]]; then
    labels=()
    scripts/setup.sh --slow --slurm
fi
code=0
# Tests also wait, so twice as many run at once as there are cores.
ctest --test-dir build --output-on-failure --timeout 900 -j$((2 * $(nproc))) "${labels[@]}" "$@" || code=$?
kernels=$(build/steelyard --version | sed -n 's/^ *kernels *//p')
[[ $kernels != avx512* || $kernels == *"here avx512" ]] ||
    echo "test.sh: this processor has no AVX-512; its kernels were NOT tested here ($kernels)"
exit $code
