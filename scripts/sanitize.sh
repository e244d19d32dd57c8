#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sanitize.sh [--unit | --teams | asan tsan]: runs the tests and the program with varied settings under sanitizers.
#   asan:     Preset with AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer.
#   tsan:     Preset with ThreadSanitizer. Without arguments both presets are built and run.
#   --unit:   Only the tests of balance/, comm/ and md/ and the program in boxes of any length, in the preset asan.
#   --teams:  Only the tests of teams of threads, in the preset tsan.
# Prints one line for each run. After a finding the other runs still start, and the exit code is 1. On two free cores
# the build takes about 6 minutes and the runs 10. KEEP=1 keeps the outputs of all runs.
#
# All our code is instrumented, with the kernels of every instruction set. UndefinedBehaviorSanitizer sees only the
# plain kernels (md/CMakeLists.txt says why), so runs for it set STEELYARD_ISA=scalar. MPICH, HDF5, yaml-cpp, fmt and
# libomp are not instrumented. ThreadSanitizer learns from libomp's tool `archer` how OpenMP synchronizes. Without
# archer every parallel loop would be reported.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^[^#]/s/^# \{0,1\}//p' scripts/sanitize.sh; exit 0; }
presets=("$@")
[[ ${1:-} == --unit || ${1:-} == --teams ]] && presets=("${1#--}")
[[ $# -gt 0 ]] || presets=(asan tsan)
for preset in "${presets[@]}"; do
    [[ $preset == asan || $preset == tsan || ( $preset =~ ^(unit|teams)$ && $# -eq 1 ) ]] ||
        { echo "sanitize.sh: unknown preset $preset; see --help" >&2; exit 2; }
done

scripts/setup.sh --sanitize || exit 1
mpiexec=$(command -v mpiexec.mpich || command -v mpiexec)
archer=$(find /usr/lib/llvm-*/lib -name libarcher.so 2>/dev/null | sort -V | tail -n 1)
work=$(mktemp -d)
verdicts=$work/verdicts  # a line for each run and for each control that failed
touch "$verdicts"

findings() { grep -cv '^clean$' "$verdicts"; }
finish() {
    if [[ $(findings) -gt 0 || -n ${KEEP:-} ]]; then echo "outputs are kept in $work"; else rm -rf "$work"; fi
}
trap finish EXIT

# ThreadSanitizer sees the memory that MPICH and HDF5 copy, but not their locks, so both libraries are left out.
# yaml-cpp appends to vectors without telling AddressSanitizer. So the unused capacity of vectors is not guarded
# (detect_container_overflow) in programs that read decks. In the tests of kernels, tiles and messages it is guarded.
libraries=$PWD/scripts/sanitizers
export OMP_TOOL_LIBRARIES=$archer OMP_WAIT_POLICY=passive
export HWLOC_PLUGINS_PATH=/nonexistent  # hwloc's plugins, which MPICH loads where they are installed, leak by themselves
export LSAN_OPTIONS=suppressions=$libraries/lsan.supp:print_suppressions=0:exitcode=66
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66
asan_options=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:exitcode=66
export ASAN_OPTIONS=$asan_options:detect_container_overflow=0

# check NAME EXIT_CODE COMMAND...: one run, with its line. Every run has a time limit; a report or another exit code is
# a finding.
check() {
    local name=$1 expected=$2 start=$SECONDS code=0 verdict=clean
    local log=$work/$name.log
    shift 2
    timeout --kill-after=10 "${LIMIT:-300}" "$@" >"$log" 2>&1 </dev/null || code=$?
    if grep -qE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error: ' "$log"; then
        verdict="FINDING: $(grep -m1 -E 'SUMMARY: |ERROR: |WARNING: |runtime error: ' "$log")"
    elif [[ $code -eq 124 || $code -eq 137 ]]; then
        verdict="FINDING: no end after ${LIMIT:-300} s"
    elif [[ $code -ne $expected ]]; then
        verdict="FINDING: exit code $code, not $expected: $(tail -n 1 "$log")"
    fi
    echo "$verdict" >>"$verdicts"
    printf '%-44s %4d s  %s\n' "$name" $((SECONDS - start)) "$verdict"
}

# reported NAME PATTERN COMMAND...: a control, whose fault must be reported.
reported() {
    local name=$1 pattern=$2
    shift 2
    ("$@"; true) >"$work/$name.log" 2>&1  # a shell of its own, which says there that the command aborted
    grep -qE "$pattern" "$work/$name.log" && return
    echo FINDING >>"$verdicts"
    echo "$name: FINDING: the sanitizer does not report a fault made on purpose; its other silence means nothing"
}

# program NAME RANKS THREADS ISA [DECK] [key=value | --option value]...: the program with outputs in a directory of its
# own, $work/${preset}_NAME. ISA: scalar, portable, avx2, avx512, or any (the best of this processor). DECK: by default
# a small collision. CODE: the exit code, by default 0.
program() {
    local name=${preset}_$1 ranks=$2 deck=$tiny arguments=()
    local -x OMP_NUM_THREADS=$3
    [[ $4 == any ]] || local -x STEELYARD_ISA=$4
    shift 4
    while [[ $# -gt 0 ]]; do
        case $1 in
            inputs/*) deck=$1 ;;
            --*) arguments+=("$1" "$2"); shift ;;
            *) arguments+=(--set "$1") ;;
        esac
        shift
    done
    check "$name" "${CODE:-0}" "$mpiexec" -n "$ranks" "build-$preset/steelyard" run "$deck" --quiet \
        --out "$work/$name" "${arguments[@]}"
}
# Settings of many runs.
tiny=inputs/tiny.yaml host=accelerator.backend=host always=balance.criterion=every
counted=(balance.every=5 balance.clock=work)

two_at_a_time() { [[ $(jobs -rp | wc -l) -lt 2 ]] || wait -n; }
has() { grep -qw "$1" /proc/cpuinfo; }

# The faults made on purpose must be reported.
asan_controls() {
    control=build-asan/control
    clang++ -std=c++20 -O1 -fopenmp -fsanitize=address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS \
        -D_GLIBCXX_SANITIZE_VECTOR scripts/sanitizers/control.cpp -o $control || exit 1
    reported asan_control_heap heap-buffer-overflow $control heap
    reported asan_control_capacity container-overflow env ASAN_OPTIONS=$asan_options $control capacity
    reported asan_control_overflow 'runtime error: signed integer overflow' $control overflow
    reported asan_control_assertion 'Assertion' $control assertion
    reported asan_control_leak 'LeakSanitizer: detected' $control leak
    check asan_control_none 0 $control none
}

# asan_tests FOLDER...: unit tests of these folders of tests/, then the MPI tests on one, two and four ranks where they
# are registered for so many.
asan_tests() {
    local test binary folders=("${@/#/build-asan/tests/}")
    for test in $(ctest --test-dir build-asan -N -L unit | sed -n 's/.*: \(test_[a-z_]*\)$/\1/p'); do
        binary=$(find "${folders[@]}" -type f -name "$test")
        local options=$asan_options
        [[ $test == test_deck ]] && options=$ASAN_OPTIONS
        two_at_a_time
        [[ -z $binary ]] || LIMIT=600 OMP_NUM_THREADS=2 ASAN_OPTIONS=$options check "asan_$test" 0 "$binary" &
    done
    wait
    for test in $(ctest --test-dir build-asan -N -L mpi | sed -n 's/.*: \(test_[a-z_]*_[124]\)$/\1/p'); do
        binary=$(find "${folders[@]}" -type f -name "${test%_*}")
        [[ -z $binary ]] || LIMIT=600 OMP_NUM_THREADS=$((1 + (${test##*_} == 1))) ASAN_OPTIONS=$asan_options \
            check "asan_$test" 0 "$mpiexec" -n "${test##*_}" "$binary"
    done
    [[ $(wc -l <"$verdicts") -gt 20 ]] ||
        { echo "sanitize.sh: ctest lists no tests in build-asan" >&2; echo FINDING >>"$verdicts"; exit 1; }
}

unit_runs() {
    asan_controls
    asan_tests balance comm md
    OMP_NUM_THREADS=1 LIMIT=600 check asan_extents 0 ctest --test-dir build-asan --no-tests=error --verbose -R '^extents$'
}

# Tests whose ranks are threads: whole rounds, and each kind of collective work in them.
team_tests="test_round test_over_all test_chain test_partition test_nested test_cell_counts"
teams_runs() {
    local test
    for test in $team_tests; do
        two_at_a_time
        LIMIT=600 check "tsan_$test" 0 build-tsan/tests/balance/"$test" &
    done
    wait
}

# space_runs: the engine in three dimensions: off-centre slabs between walls, a liquid, a box one cell deep.
space_runs() {
    local deck=inputs/collision_3d.yaml
    local small=(system.box='[30,15,15]' run.steps=60 system.slabs.0.lower='[3,3,3]' system.slabs.0.upper='[14,11,11]'
        system.slabs.1.lower='[15.2,4,4]' system.slabs.1.upper='[27,12,12]')
    program space_plain 1 2 scalar $deck "${small[@]}"
    program space_melt 2 2 any inputs/melt.yaml run.steps=100 grid.tile=4 system.slabs.0.cells='[5,6,7]'
    program space_double 3 2 any $deck "${small[@]}" run.precision=double grid.skin=0.2 output.fields_every=20 \
        output.trajectory_every=20
    program space_thin 2 1 scalar $deck "${small[@]}" grid.skin=0 system.box='[30,15,5.5]' \
        system.slabs.0.upper='[14,11,5]' system.slabs.1.upper='[27,12,5]'
    program space_balanced 3 2 any $deck "${small[@]}" "${counted[@]}" $always balance.processes=12 \
        balance.compare='[particle_count,hybrid,a1,b1]' balance.partition.cut=cells checkpoint.every=30
    program space_rcb 4 1 scalar $deck "${small[@]}" run.steps=20 "${counted[@]}" $always balance.partition.kind=rcb \
        comm.aggregate=node comm.ranks_per_node=2
    program space_zones 1 2 scalar $deck "${small[@]}" run.steps=40 $host accelerator.threads=2 accelerator.every=10 \
        checkpoint.every=20
    program space_zones_2 2 1 any $deck "${small[@]}" "${counted[@]}" $always $host accelerator.devices=2 \
        accelerator.every=8
    program space_restart 2 2 any $deck "${small[@]}" run.steps=90 \
        --restart "$work/${preset}_space_balanced/checkpoint_30.h5"
    CODE=3 program space_other_dimension 1 1 any --restart "$work/${preset}_space_balanced/checkpoint_30.h5"
}

asan_runs() {
    asan_controls
    asan_tests app balance comm gpu md predict
    # The lower left slab flies into the corner.
    local corner=(run.dt=0.001 system.box='[234,122]' system.slabs.0.lower='[0.5,0.5]'
        system.slabs.0.velocity='[-20,-20]')
    local all='balance.compare=[time_average,moving_average,particle_count,hybrid,a1,b1]'
    program plain 1 1 scalar run.steps=40
    program threads_double 1 2 scalar run.steps=40 run.precision=double
    program walls 2 2 scalar run.steps=60 "${corner[@]}" system.boundary='[reflecting,reflecting]'
    program walls_double 3 1 scalar run.steps=50 "${corner[@]}" system.boundary='[reflecting,periodic]' \
        run.precision=double
    program soft_sphere 2 1 scalar run.steps=40 system.potential.kind=soft_sphere system.potential.shift=force
    program liquid 2 1 scalar inputs/liquid.yaml run.steps=30 system.slabs.0.cells='[60,60]' grid.tile='[5,9]' \
        grid.skin=0
    program best_mixed 2 1 any run.steps=200 output.every=7
    program best_double 1 2 any run.steps=200 run.precision=double grid.skin=0.2 grid.tile=12
    has avx2 && program avx2 4 1 avx2 run.steps=100 grid.tile=32
    program wall_r1_gain 2 2 scalar run.steps=60 balance.every=5
    program wall_a1_always 3 1 any run.steps=200 balance.every=3 balance.model=a1 $always balance.partition.cut=patches
    program wall_b1_rcb 4 1 any run.steps=200 balance.every=4 balance.model=b1 $always balance.partition.kind=rcb
    program work_all_models 3 1 scalar run.steps=30 "${counted[@]}" balance.processes=24 "$all" \
        balance.partition.cut=cells $always output.fields_every=10
    program work_hilbert 2 2 any run.steps=120 "${counted[@]}" balance.processes=40 balance.noise=0.05 \
        balance.partition.order=hilbert balance.partition.sticky=false $always \
        balance.constants.threshold=0.1 balance.model=hybrid
    program work_tree_spill 2 1 any run.steps=120 "${counted[@]}" balance.processes=9 balance.partition.order=tree \
        balance.work.capacity=6 balance.work.spill=1e-8 \
        'balance.work.region={lower: [100, 20], upper: [150, 90], factor: 3}' balance.partition.min_width=3 \
        balance.partition.max_particles_per_process=4000 output.trajectory_every=40
    program zones 1 1 scalar run.steps=60 $host accelerator.every=10 checkpoint.every=30
    program zones_2_ranks 2 1 any run.steps=80 $host accelerator.devices=2 accelerator.every=8 balance.every=10 $always
    program messages_node 4 1 any run.steps=60 comm.aggregate=node comm.ranks_per_node=2 balance.every=10 $always
    program messages_one_by_one 3 1 scalar run.steps=40 comm.aggregate=none comm.overlap=none comm.order=far_first \
        comm.ranks_per_node=1
    program checkpoints 3 1 scalar run.steps=40 "${counted[@]}" balance.processes=12 checkpoint.every=10 \
        checkpoint.keep=3 output.fields_every=20 output.trajectory_every=20
    program restart_on_4 4 1 scalar run.steps=60 "${counted[@]}" balance.processes=12 \
        --restart "$work/asan_checkpoints/checkpoint_30.h5"
    program restart_other_dt 1 2 any run.steps=120 run.dt=0.0002 output.trajectory_every=50 \
        --restart "$work/asan_checkpoints/checkpoint_40.h5"
    program strip_restart 3 1 scalar inputs/strip_t1.yaml run.steps=1030 "${counted[@]}" balance.processes=24 \
        'balance.compare=[hybrid,a1,b1]' --restart restarts/strip_t1.h5
    CODE=75 program stopped_early 2 1 any run.steps=1000000 checkpoint.time_limit_seconds=5
    program two_checkpoints 3 1 any run.steps=100 checkpoint.every=50
    printf 'damaged' | dd of="$work/asan_two_checkpoints/checkpoint_100.h5" bs=1 seek=200000 conv=notrunc status=none
    cp -r "$work/asan_two_checkpoints" "$work/asan_damaged_goes_back"
    program damaged_goes_back 2 1 any run.steps=110 --restart auto
    CODE=3 program damaged_refused 2 1 any run.steps=110 --restart "$work/asan_two_checkpoints/checkpoint_100.h5"
    CODE=4 program dt_too_long 2 1 any run.steps=50 run.dt=0.03
    # A signal's job ends by MPI_Abort, which frees nothing.
    OMP_NUM_THREADS=1 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 check asan_signalled 75 \
        timeout --preserve-status --signal=USR1 10 "$mpiexec" -n 2 \
        build-asan/steelyard run $tiny --quiet --out "$work/asan_signalled" --set run.steps=1000000
    OMP_NUM_THREADS=1 check asan_predict 0 "$mpiexec" -n 2 build-asan/steelyard predict $tiny --quiet \
        --out "$work/asan_predict" --set balance.every=20 --processes 1,2,3
    program predicted_and_traced 2 1 any run.steps=50 balance.every=20 --prediction "$work/asan_predict/predict.json" \
        --trace-messages "$work/asan_messages.csv"
    OMP_NUM_THREADS=1 check asan_replay 0 \
        "$mpiexec" -n 2 build-asan/replay_messages "$work/asan_messages.csv" --rounds 1
    CODE=2 program bad_deck 2 1 any run.stepz=50
    space_runs
}

tsan_runs() {
    control=build-tsan/control
    [[ -n $archer ]] ||
        { echo "sanitize.sh: no libarcher.so; every parallel loop would be reported as a race" >&2; exit 1; }
    clang++ -std=c++20 -O1 -fopenmp -fsanitize=thread scripts/sanitizers/control.cpp -o $control || exit 1
    reported tsan_control_race 'ThreadSanitizer: data race' $control race
    check tsan_control_none 0 $control none

    local tests=build-tsan/tests threads test
    for threads in 2 3 4; do
        OMP_NUM_THREADS=$threads check "tsan_test_parallel_${threads}_threads" 0 $tests/app/test_parallel
    done
    OMP_NUM_THREADS=2 check tsan_test_kernels 0 $tests/md/test_kernels
    check tsan_test_gpu_zone 0 $tests/gpu/test_gpu_zone
    LIMIT=600 OMP_NUM_THREADS=3 check tsan_test_engine_1 0 "$mpiexec" -n 1 $tests/app/test_engine
    for test in engine zones messages; do
        LIMIT=600 OMP_NUM_THREADS=2 check tsan_test_${test}_2 0 "$mpiexec" -n 2 "$tests/app/test_$test"
    done

    program plain 1 4 scalar run.steps=40
    program double 1 2 any run.steps=100 run.precision=double output.every=10
    program balanced 1 4 any run.steps=100 balance.every=5 balance.processes=12 $always checkpoint.every=25
    program balanced_scalar 2 2 scalar run.steps=40 balance.every=5 $always checkpoint.every=20
    program gain 2 3 any run.steps=150 balance.every=10 balance.partition.kind=rcb checkpoint.every=50 \
        output.fields_every=50
    program work 2 4 any run.steps=100 "${counted[@]}" balance.processes=24 \
        'balance.compare=[particle_count,hybrid,a1]' balance.partition.cut=cells $always \
        checkpoint.every=50 output.trajectory_every=50
    program restart 1 3 any run.steps=160 "${counted[@]}" balance.processes=24 \
        --restart "$work/tsan_work/checkpoint_100.h5"
    program zones 1 2 any run.steps=100 $host accelerator.threads=2 accelerator.every=10 checkpoint.every=50
    program zones_2_ranks 2 2 scalar run.steps=40 $host accelerator.devices=2 accelerator.every=8 balance.every=10 \
        $always
    program walls 2 2 any run.steps=100 system.box='[234,122]' system.boundary='[reflecting,reflecting]' balance.every=7
    space_runs
}

for preset in "${presets[@]}"; do
    start=$SECONDS
    built=$preset
    export TARGET=
    case $preset in
        unit) built=asan TARGET="steelyard $(grep -hoP 'add_(unit|mpi)_test\(\K\w+' tests/{balance,comm,md}/CMakeLists.txt | tr '\n' ' ')" ;;
        teams) built=tsan TARGET=$team_tests ;;
    esac
    scripts/build.sh "$built" >"$work/build_$preset.log" 2>&1 || { tail -n 30 "$work/build_$preset.log" >&2; \
        echo FINDING >>"$verdicts"; exit 1; }
    printf '%-44s %4d s  built\n' "$preset" $((SECONDS - start))
    "${preset}_runs"
done
echo "$(wc -l <"$verdicts") runs, $(findings) findings"
[[ $(findings) -eq 0 ]]
