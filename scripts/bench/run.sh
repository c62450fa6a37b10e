#!/usr/bin/env bash
# Makes the two corpora of the benchmark in FOLDER, unless they are there, and
# runs the benchmark on both.
# usage: run.sh FOLDER [FLAGS OF bench]     (see README.md)
set -euo pipefail
folder=$(mkdir -p "${1:?usage: run.sh FOLDER [-runs N] [-peer COMMAND]}" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
if [ ! -f "$folder/bench_all.jsonl" ]; then
  maker=../shared/bench/make_bench.sh
  [ -f "$maker" ] || {
    echo "The corpora are made by $maker, which is not here; run 'go run ./scripts/bench CORPUS.jsonl' with one of your own." >&2
    exit 1
  }
  NOTRUTH=1 bash "$maker" "$folder"
fi
exec go run ./scripts/bench "$@" "$folder/bench_small.jsonl" "$folder/bench_all.jsonl"
