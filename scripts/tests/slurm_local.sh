#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurm_local.sh: runs scripts/jobs/collision.sh and load_models.sh, reduced, under a Slurm that it starts on this
# machine, and again in a plain shell, and compares what they computed. On the way jobs are preempted, run out of time
# and get a signal, and have to go on from their checkpoints. One line for each check; exits with 1 at the first that
# fails, and keeps the logs. BINARY: default build/steelyard. About three minutes on two cores.
#
# The Slurm has four nodes of two processors, which are slurmd on this machine. Its configuration, key, sockets and logs
# are in a temporary directory and its ports are free ones, so it does not meet another Slurm or munged. Each of its
# processes has the SLURM_CONF of that directory in its environment or works there: so they are found, and ended.
#
# Decks have no end until their runs were interrupted: so no run is too fast for that, on any machine.
set -euo pipefail
[[ ${1:-} == -h || ${1:-} == --help ]] && { sed -n '3,6s/^# //p' "$0"; exit 0; }
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scripts/setup.sh --slurm
PATH=$PATH:/usr/sbin:/sbin
for program in munged mungekey slurmctld slurmd sbatch; do
    command -v "$program" >/dev/null || { echo "slurm_local.sh: there is no $program here" >&2; exit 1; }
done
unset "${!SLURM_@}" "${!SBATCH_@}" "${!SRUN_@}" "${!PBS_@}"                    # of a job that this may run in
unset STAGE TASK NAME OUT FIRST SECOND DECK CUT DT STEPS FIRST_STEPS SETTINGS RANKS LAUNCHER
work=$(mktemp -d)
export SLURM_CONF=$work/slurm.conf BINARY=${BINARY:-build/steelyard} CLOCK=work THREADS=1

# ---- The Slurm

start_slurm() {
    local host ports node listen=CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
    host=$(hostname -s)
    # They listen to loopback alone if that is the address of this machine's name; where it is another, to all addresses.
    [[ $(getent ahostsv4 "$host") == "127.0.0.1 "* ]] || listen=
    read -ra ports < <(python3 -c '
import socket
sockets = [socket.create_server(("", 0)) for _ in range(5)]
print(*(s.getsockname()[1] for s in sockets))')
    cat >"$SLURM_CONF" <<END
ClusterName=local
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
# A job that was requeued waits for the end of its old credential, five seconds at least.
AuthInfo=socket=$work/munge.socket,cred_expire=5
$listen
SlurmdParameters=config_overrides
StateSaveLocation=$work/state
SlurmctldPidFile=$work/slurmctld.pid
SlurmctldLogFile=$work/log/slurmctld
SlurmdSpoolDir=$work/spool.%n
SlurmdPidFile=$work/%n.pid
SlurmdLogFile=$work/log/%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SchedulerParameters=sched_interval=2,bf_interval=2
DependencyParameters=kill_invalid_depend
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=10
MinJobAge=3600
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 GraceTime=20
PartitionName=high Nodes=ALL PriorityTier=2 PreemptMode=OFF
END
    for node in 1 2 3 4; do
        echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[node]} CPUs=2" >>"$SLURM_CONF"
    done
    mkdir "$work"/{state,log} "$work"/spool.n{1..4}
    mungekey --create --keyfile="$work/munge.key"
    # setsid: Ctrl-C must not end them before their jobs.
    setsid munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
        --pid-file="$work/munge.pid" --seed-file="$work/munge.seed" >"$work/log/munged" 2>&1 &
    await 10 test -S "$work/munge.socket" || return 1
    setsid slurmctld -D -c >/dev/null 2>&1 &
    for node in 1 2 3 4; do setsid slurmd -D -N "n$node" >/dev/null 2>&1 & done
    await 30 four_nodes
}
four_nodes() { [[ $(sinfo --noheader --partition=low --states=idle --format=%D) == 4 ]]; }
no_jobs() { local jobs; jobs=$(squeue --noheader) && [[ -z $jobs ]]; }

ours() {  # the pids of the Slurm and its jobs
    local process
    for process in /proc/[0-9]*; do
        if [[ $(readlink "$process/cwd") == "$work"* ]] || grep -qzxF "SLURM_CONF=$SLURM_CONF" "$process/environ"; then
            echo "${process#/proc/}"
        fi 2>/dev/null
    done
}
none_left() { [[ -z $(ours) ]]; }
stop_slurm() {
    local pids
    { squeue && scancel --user="$(id -un)" && await 30 no_jobs; } >/dev/null 2>&1 || true
    for signal in TERM KILL; do
        read -ra pids <<<"$(ours | tr '\n' ' ')"
        [[ ${#pids[@]} -eq 0 ]] || { kill -s "$signal" "${pids[@]}" 2>/dev/null; await 10 none_left; } || true
    done
}
finish() {
    local code=$?
    trap '' INT TERM HUP
    none_left || stop_slurm
    if [[ $code -eq 0 ]]; then rm -rf "$work"; else echo "slurm_local.sh: the logs are kept in $work/log" >&2; fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# ---- Checks

check() {  # check WHAT COMMAND...: prints whether the command succeeds, and ends the script if it does not
    if "${@:2}" >>"$work/checks.log" 2>&1; then echo "ok      $1"; else echo "FAILED  $1"; exit 1; fi
}
await() {  # await SECONDS COMMAND...: until the command succeeds
    local end=$((SECONDS + $1))
    until "${@:2}" >/dev/null 2>&1; do [[ $SECONDS -lt $end ]] || return 1; sleep 0.5; done
}
has_rows() { [[ $(wc -l <"$1/thermo.csv") -ge 4 ]]; }
steps_of_checkpoints() { find "$1" -maxdepth 1 -name 'checkpoint_*.h5' | sed 's/.*_\([0-9]*\)\.h5$/\1/' | sort -n; }
has_checkpoints() { [[ $(steps_of_checkpoints "$1" | wc -l) -ge $2 ]]; }
went_on() {  # went_on DIRECTORY: the run there was started again from its newest checkpoint
    [[ $(sed -n 's/^ *"step": //p' "$1/run.json" | tail -n 1) == $(steps_of_checkpoints "$1" | tail -n 1) ]]
}
states() { squeue --noheader --states=all --array --format="%A %T"; }
is_cancelled() { states | grep -x "$cancelled CANCELLED"; }
all_completed() { is_cancelled && [[ $(states | sed "/^$cancelled /d; s/.* //" | sort -u) == COMPLETED ]]; }
not_ended_by_slurm() { ! grep -r "DUE TO TIME LIMIT" "$work/log"; }
nothing_put_aside() { [[ -z $(find "$work/slurm" -name 'previous_*') ]]; }

table() {  # of all runs below a directory: what does not depend on time
    python3 - "$1" <<'END'
import csv, glob, hashlib, json, os, sys

def digest(path):
    if not os.path.exists(path):
        return "-"
    timed = ("model_seconds", "partition_seconds", "migrate_seconds")
    with open(path) as f:
        rows = [[row[key] for key in sorted(row) if key not in timed] for row in csv.DictReader(f)]
    return hashlib.sha256(repr(rows).encode()).hexdigest()[:8] if rows else "-"

print("run                               step  state hash        thermo    balance   overall LBE")
for path in sorted(glob.glob(sys.argv[1] + "/*/*/summary.json")):
    folder = os.path.dirname(path)
    with open(path) as f:
        s = json.load(f)
    thermo, balance = (digest(f"{folder}/{name}.csv") for name in ("thermo", "balance"))
    lbe = " ".join(map(repr, s["overall_lbe"].values()))
    print(f"{os.path.relpath(folder, sys.argv[1]):32} {s['steps']:5}  {s['state_hash']}  {thermo:8}  {balance:8}  {lbe}".rstrip())
END
}

# ---- Jobs

sbatch=(sbatch --parsable --output="$work/log/%x_%A_%a" --time=10 --ntasks-per-node=2 --mincpus=2)
endless=1000000000
sed "s/dt: 0.001, steps: 1000/dt: 0.0001, steps: $endless/; s/every: 100\b/every: 10/; /^checkpoint/d" \
    inputs/strip.yaml >"$work/first.yaml"
sed "s/steps: 3000/steps: $endless/; s/every: 100\b/every: 10/" inputs/strip_t1.yaml >"$work/second.yaml"
give_end() {  # give_end DECK DIRECTORY: the deck ends 30 steps after the newest checkpoint
    sed -i "s/steps: $endless/steps: $(($(steps_of_checkpoints "$2" | tail -n 1) + 30))/" "$1"
}
collision=(FIRST="$work/first.yaml" SECOND="$work/second.yaml" SETTINGS="balance.every=10 checkpoint.every=$endless")
models=(DECK=inputs/strip.yaml FIRST_STEPS=20 STEPS=30)

echo "Under Slurm:"
check "four nodes start" start_slurm
out=$work/slurm/collision
collision+=(OUT="$out") models+=(OUT="$work/slurm/load_models")
one=$(env "${collision[@]}" STAGE=1 "${sbatch[@]}" --nodes=2 scripts/jobs/collision.sh)
two=$(env "${collision[@]}" STAGE=2 LAUNCHER="srun --mpi=pmi2" \
    "${sbatch[@]}" --nodes=2 --dependency=afterok:"$one" scripts/jobs/collision.sh)
cancelled=$(env "${collision[@]}" STAGE=1 NAME=cancelled OUT="$work/cancelled" \
    "${sbatch[@]}" --nodes=2 scripts/jobs/collision.sh)
check "collision.sh, stage 1, runs on two nodes" await 60 has_rows "$out/stage1"
check "so does another such job" await 60 has_rows "$work/cancelled/cancelled"
scancel "$cancelled"
check "cancelled, it stops with a checkpoint" await 30 has_checkpoints "$work/cancelled/cancelled" 1
check "it stays cancelled" await 30 is_cancelled
first=$(env "${models[@]}" STAGE=1 "${sbatch[@]}" --nodes=4 --partition=high scripts/jobs/load_models.sh)
env "${models[@]}" STAGE=2 \
    "${sbatch[@]}" --nodes=2 --array=0-15 --dependency=afterok:"$first" scripts/jobs/load_models.sh >/dev/null
check "load_models.sh, stage 1, preempts it: it stops with a checkpoint" await 30 has_checkpoints "$out/stage1" 1
check "it is requeued and goes on" await 60 went_on "$out/stage1"
scontrol update JobId="$one" TimeLimit=1
check "its time runs out: it stops with a checkpoint" await 90 has_checkpoints "$out/stage1" 2
check "it stops before Slurm ends it" not_ended_by_slurm
give_end "$work/first.yaml" "$out/stage1"
check "it is requeued and goes on" await 60 went_on "$out/stage1"
check "stage 2 runs after it, started by srun" await 90 has_rows "$out/stage2"
scancel --signal=USR1 --batch "$two"
check "it gets a signal: it stops with a checkpoint" await 30 has_checkpoints "$out/stage2" 1
give_end "$work/second.yaml" "$out/stage2"
check "it is requeued and goes on" await 60 went_on "$out/stage2"
check "all jobs end, those of the array too" await 300 no_jobs
check "all others have succeeded" all_completed
check "no run had to start from the beginning" nothing_put_aside
stop_slurm
check "no process of this Slurm is left" none_left

echo "In a plain shell:"
collision+=(OUT="$work/shell/collision") models+=(OUT="$work/shell/load_models")
stages() {
    local stage task
    for stage in 1 2; do env "${collision[@]}" STAGE=$stage RANKS=4 scripts/jobs/collision.sh; done
    env "${models[@]}" STAGE=1 RANKS=8 scripts/jobs/load_models.sh
    for task in {0..15}; do env "${models[@]}" STAGE=2 TASK="$task" RANKS=4 scripts/jobs/load_models.sh; done
}
stages >"$work/log/shell" 2>&1 || true      # the table will lack what failed
table "$work/shell" | tee "$work/shell.txt"
table "$work/slurm" >"$work/slurm.txt"
check "19 runs" test "$(wc -l <"$work/shell.txt")" == 20
diff "$work/shell.txt" "$work/slurm.txt" || true
check "the table of the runs under Slurm is the same" cmp "$work/shell.txt" "$work/slurm.txt"
