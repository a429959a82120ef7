#!/usr/bin/env bash
# Runs that the cluster model is held to, some six minutes on 16 cores and two GPUs; on a quiet machine, from the
# repository's root:
#
#   tests/cluster/record_model_runs.sh OUT [MOST_RANKS] [GPUS]
#   python -m cluster model --records OUT/cores.jsonl --validate OUT/cores.jsonl --network OUT/check.json
#   python -m cluster model --records OUT/cores.jsonl --validate OUT/gpus.jsonl --network nvlink
set -euo pipefail
out=$1
most=${2:-16}
gpus=${3:-0}
mkdir -p "$out"
rm -f "$out/cores.jsonl" "$out/gpus.jsonl" "$out/check.json"

# Instance and iterations: a second or several of one core.
works=("401-417 60" "601-617 30" "1301-1317 5")

run() { # ranks, instance, iterations, file, options of the device
    mpirun -n "$1" python -m drivers.ppp --instance "$2" --iterations "$3" --repeats "$repeats" --distribute always \
        --record "$out/$4" "${@:5}"
}

# Ranks that the system moves from core to core wait for each other, in every run in another way.
mpirun -n "$most" python -m cluster check --backend cpu --pin-cores --output "$out/check.json"

# Every round adds some repetitions to each run: what is compared is made within the same minutes, whatever the machine's
# clock does meanwhile, and not after a pause alone.
for ((repeats = 4; repeats <= 12; repeats += 4)); do
    for work in "${works[@]}"; do
        read -r instance iterations <<<"$work"
        for ((ranks = 1; ranks <= most; ranks *= 2)); do
            run "$ranks" "$instance" "$iterations" cores.jsonl --backend cpu --pin-cores
        done
        for ((ranks = 1; ranks <= gpus; ranks *= 2)); do
            run "$ranks" "$instance" 2000 gpus.jsonl --backend cuda
        done
    done
done
