#!/usr/bin/env bash
# Runs that the cluster model is held to, some three minutes on 16 cores and two GPUs; on a quiet machine, from the
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

run() { # ranks, backend, instance, iterations, file
    mpirun -n "$1" python -m drivers.ppp --backend "$2" --instance "$3" --iterations "$4" --repeats 6 --share always \
        --record "$out/$5"
}

mpirun -n "$most" python -m cluster check --backend cpu --output "$out/check.json"
for ((ranks = 1; ranks <= most; ranks *= 2)); do
    for work in "${works[@]}"; do
        read -r instance iterations <<<"$work"
        run "$ranks" cpu "$instance" "$iterations" cores.jsonl
    done
done
for ((ranks = 1; ranks <= gpus; ranks *= 2)); do
    for work in "${works[@]}"; do
        read -r instance _ <<<"$work"
        run "$ranks" cuda "$instance" 2000 gpus.jsonl
    done
done
