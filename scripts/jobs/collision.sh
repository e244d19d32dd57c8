#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A collision in two stages, under Slurm, under PBS or in a plain shell. Stage 1 runs to t = 1 and checkpoints; stage 2 goes on
# from there with another time step. From the project's root, after scripts/build.sh:
#
#   Slurm:  one=$(sbatch --parsable --export=ALL,STAGE=1 scripts/jobs/collision.sh)
#           sbatch --dependency=afterok:$one --export=ALL,STAGE=2 scripts/jobs/collision.sh
#   PBS:    one=$(qsub -v STAGE=1 scripts/jobs/collision.sh)
#           qsub -W depend=afterok:$one -v STAGE=2 scripts/jobs/collision.sh
#   shell:  STAGE=1 RANKS=2 scripts/jobs/collision.sh && STAGE=2 RANKS=2 scripts/jobs/collision.sh
#
# STAGE: 1 | 2.  OUT: parent of the output directories (default out/collision).
# RANKS: default, what the scheduler gave.  THREADS of each rank: default, what it gave each task (sbatch --cpus-per-task=4;
# qsub -l select=2:ncpus=24:mpiprocs=6), else OMP_NUM_THREADS, else 1.  LAUNCHER: what starts the ranks, default mpiexec.mpich or
# mpiexec; LAUNCHER="srun --mpi=pmi2" on most Slurm sites. `-n RANKS` is added unless it gives the number itself.
# On nodes of fewer than 24 cores: sbatch --ntasks-per-node=8 --mincpus=8; the first option alone leaves Slurm asking for 24.
# Modules: load them before sbatch; --export=ALL passes them on (qsub: add -V). Account and partition: sbatch --account=A
# --partition=P, qsub -A A -q P.
# FIRST, SECOND: the decks of the stages.  BINARY: default build/steelyard.  DT, STEPS: time step of stage 2, number of its last step.
# CLOCK: wall | work, default the deck's balance.clock; by counted work (work) all results repeat, balancing included.
# SETTINGS: more `key=value` for --set, separated by spaces, in the stage that runs.  NAME: of the output directory in OUT, default
# stage1 or stage2.
#
# A job that runs out of time stops with a checkpoint and exit code 75; submit it again and it goes on (under Slurm it
# requeues itself). The warning comes as SIGUSR1, which the batch shell must hand on to mpiexec.
#SBATCH --job-name=steelyard
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=24
#SBATCH --time=01:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#PBS -N steelyard
#PBS -l select=2:ncpus=24:mpiprocs=24
#PBS -l walltime=01:00:00
#PBS -j oe
set -euo pipefail
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^#SBATCH/{/^#SBATCH/!s/^# \{0,1\}//p}' "$0"; exit 0; }
cd "${SLURM_SUBMIT_DIR:-${PBS_O_WORKDIR:-$(dirname "${BASH_SOURCE[0]}")/../..}}"

stage=${STAGE:?set STAGE to 1 or 2}
ranks=${RANKS:-${SLURM_NTASKS:-$([[ -n ${PBS_NODEFILE:-} ]] && wc -l <"$PBS_NODEFILE" || echo 2)}}
out=${OUT:-out/collision}
here=$out/${NAME:-stage$stage}
first=${FIRST:-inputs/strip.yaml}
second=${SECOND:-inputs/strip_t1.yaml}
read -ra launcher <<<"${LAUNCHER:-$(command -v mpiexec.mpich || command -v mpiexec)}"
[[ " ${launcher[*]} " =~ \ (-n|-np|--ntasks)[\ =] ]] || launcher+=(-n "$ranks")
if [[ -n ${PBS_NODEFILE:-} && -n ${NCPUS:-} ]]; then
    on_first_node=$(grep -cxF "$(head -n 1 "$PBS_NODEFILE")" "$PBS_NODEFILE")
    pbs_threads=$((NCPUS > on_first_node ? NCPUS / on_first_node : 1))
fi
export OMP_NUM_THREADS=${THREADS:-${SLURM_CPUS_PER_TASK:-${pbs_threads:-${OMP_NUM_THREADS:-1}}}}
export SRUN_CPUS_PER_TASK=$OMP_NUM_THREADS  # srun doesn't take it from sbatch by itself

case $stage in
    # One that was interrupted before its first checkpoint starts again: --force puts what it wrote aside.
    1) arguments=(run "$first" --out "$here" --restart auto --force) ;;
    2)
        # An interrupted stage 2 goes on from its own checkpoint. If stage 2 has no checkpoint yet, it starts from the
        # last one of stage 1, and puts aside any rows that it wrote before.
        restart=auto
        if ! compgen -G "$here/checkpoint_*.h5" >/dev/null; then
            restart=$(find "$out/stage1" -maxdepth 1 -name 'checkpoint_*.h5' 2>/dev/null | sort -V | tail -n 1) || true
            [[ -n $restart ]] || { echo "collision.sh: no checkpoint in $out/stage1; run STAGE=1 first" >&2; exit 3; }
            step=${restart##*_} step=${step%.h5}
            echo "collision.sh: stage 2 starts from $restart, step $step"
            last=$(sed -n 's/^  steps: *\([0-9]*\).*/\1/p' "$out/stage1/deck.yaml" 2>/dev/null) || true
            [[ ${last:-$step} == "$step" ]] || echo "collision.sh: warning: stage 1 has not reached its last step, $last; finish it first, unless you want this" >&2
        else
            echo "collision.sh: stage 2 goes on from the newest checkpoint in $here"
        fi
        arguments=(run "$second" --out "$here" --restart "$restart")
        [[ -n ${DT:-} ]] && arguments+=(--set "run.dt=$DT")
        [[ -n ${STEPS:-} ]] && arguments+=(--set "run.steps=$STEPS")
        ;;
    *) echo "collision.sh: STAGE is $stage; set it to 1 or 2" >&2; exit 2 ;;
esac
[[ -n ${CLOCK:-} ]] && arguments+=(--set "balance.clock=$CLOCK")
for setting in ${SETTINGS:-}; do arguments+=(--set "$setting"); done

"${launcher[@]}" "${BINARY:-build/steelyard}" "${arguments[@]}" &
job=$!
signalled=1 asked='' ended=''
hand_on() { signalled=1 asked=${asked:-$EPOCHSECONDS}; kill -USR1 "$job" 2>/dev/null || true; }
trap hand_on USR1
trap '[[ -n $asked ]] || ended=1; hand_on' TERM
while [[ $signalled -eq 1 ]]; do  # a signal ends `wait` early
    signalled=0 code=0
    wait "$job" || code=$?
done
# srun does not return the 75 of a program that stops early, but 137. Its checkpoint shows that it stopped as it was asked to.
if [[ $code -ne 0 && -n $asked ]]; then
    written=$(find "$here" -maxdepth 1 -name 'checkpoint_*.h5' -newermt "@$asked" 2>/dev/null) || true
    [[ -n $written ]] && code=75
fi
# TERM without a warning before: the job was cancelled and must not come back, or preempted and Slurm itself requeues it.
if [[ $code -eq 75 && -n ${SLURM_JOB_ID:-} && -z $ended ]]; then
    scontrol requeue "$SLURM_JOB_ID" ||
        echo "collision.sh: not requeued by this script; if Slurm has not preempted the job, submit it again" >&2
fi
exit "$code"
