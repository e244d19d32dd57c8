#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The experiment of Liu et al. (2015) on real ranks and real clocks. Stage 1 runs to t = 1 and writes a checkpoint.
# Stage 2 starts there: an array of eight models x two tests, and one run of each test without balancing. Run it from
# the project's root, after scripts/build.sh:
#
#   Slurm:  one=$(sbatch --parsable --export=ALL,STAGE=1 scripts/jobs/load_models.sh)
#           sbatch --array=0-17 --dependency=afterok:$one --export=ALL,STAGE=2 scripts/jobs/load_models.sh
#   PBS:    one=$(qsub -v STAGE=1 scripts/jobs/load_models.sh)
#           qsub -J 0-17 -W depend=afterok:$one -v STAGE=2 scripts/jobs/load_models.sh
#   shell:  STAGE=1 RANKS=8 scripts/jobs/load_models.sh && for i in {0..17}; do STAGE=2 TASK=$i RANKS=8 scripts/jobs/load_models.sh; done
#
# Task i below 16: test 1 + i / 8; model i % 8 of time_average moving_average particle_count hybrid a1 b1 r1 none. Tasks 16 and 17:
# r1_ahead in test 1 and 2. Tasks 18 and 19: exact, the true costs, which only CLOCK=work knows. One process per rank.
# DECK: default inputs/lbe_full.yaml, the paper's size (inputs/lbe2400.yaml: a hundredth of it).  OUT: default out/load_models.
# FIRST_STEPS, STEPS: steps of stage 1 and of stage 2, default 1000.  CUT: cells, strips or patches.
# CLOCK: wall (default) or work, which counts work instead of measuring times, so that results repeat.
# RANKS, THREADS, LAUNCHER, BINARY, and where modules, account and partition go: see collision.sh.
# Cost: 19 jobs of 100 nodes, so at most 3,800 node-hours by the limit of 2 h. Never run; from speeds measured on one core, 1000
# steps compute for 7 s at LBE 100 % and 23 s at 30 %. The checkpoint of stage 1 has 52 GB (96 bytes a particle), and each task reads it.
# When all are done: scripts/report.py out/load_models/test1_* --pictures png, and `overall_lbe` in each summary.json.
#SBATCH --job-name=load_models
#SBATCH --nodes=100
#SBATCH --ntasks-per-node=24
#SBATCH --time=02:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#PBS -N load_models
#PBS -l select=100:ncpus=24:mpiprocs=24
#PBS -l walltime=02:00:00
#PBS -j oe
set -euo pipefail
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,/^#SBATCH/{/^#SBATCH/!s/^# \{0,1\}//p}' "$0"; exit 0; }
cd "${SLURM_SUBMIT_DIR:-${PBS_O_WORKDIR:-$(dirname "${BASH_SOURCE[0]}")/../..}}"

deck=${DECK:-inputs/lbe_full.yaml}
first_steps=${FIRST_STEPS:-1000}
export OUT=${OUT:-out/load_models} FIRST=$deck SECOND=$deck CLOCK=${CLOCK:-wall} STAGE=${STAGE:?set STAGE to 1 or 2}
common="balance.processes=null balance.compare=[]"
if [[ $STAGE == 1 ]]; then
    export SETTINGS="$common balance.every=0 run.steps=$first_steps checkpoint.every=$first_steps"
else
    task=${TASK:-${SLURM_ARRAY_TASK_ID:-${PBS_ARRAY_INDEX:?set TASK to 0..19}}}
    [[ $task =~ ^[0-9]+$ && $task -lt 20 ]] || { echo "load_models.sh: TASK is $task; set it to 0..19" >&2; exit 2; }
    models=(time_average moving_average particle_count hybrid a1 b1 r1 none)
    model=${models[task % 8]}
    test=$((1 + task / 8))
    ((task < 16)) || { later=(r1_ahead exact) model=${later[(task - 16) / 2]} test=$((1 + task % 2)); }
    [[ $model == exact && $CLOCK != work ]] && { echo "load_models.sh: exact knows counted work alone; set CLOCK=work" >&2; exit 2; }
    export NAME=test${test}_$model STEPS=$((first_steps + ${STEPS:-1000})) DT=$([[ $test == 1 ]] && echo 1e-13 || echo 1e-3)
    export SETTINGS="$common balance.every=5 balance.criterion=every balance.partition.cut=${CUT:-cells}"
    if [[ $model == none ]]; then SETTINGS+=" balance.partition.kind=none"; else SETTINGS+=" balance.model=$model"; fi
fi
exec bash scripts/jobs/collision.sh
