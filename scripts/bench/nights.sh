#!/usr/bin/env bash
# Makes a corpus of a hundred files in FOLDER, and prints what nights of a scheduled job cost as a share of a run over everything:
# CPU time, medians of runs in turn. It checks that the results are the same bytes.
# usage: nights.sh FOLDER [DOCUMENTS [RUNS [FLAGS OF runjob run]]]
set -euo pipefail
folder=$(mkdir -p "${1:?usage: nights.sh FOLDER [DOCUMENTS [RUNS [FLAGS OF runjob run]]]}" && cd "$1" && pwd)
documents=${2:-1000000} runs=${3:-5}
shift $(($# < 3 ? $# : 3))
cd "$(dirname "$0")/../.."
bin=$folder/bin
mkdir -p "$bin"
go build -buildvcs=auto -o "$bin" ./cmd/runjob ./scripts/scale
cd "$folder"
"$bin/scale" -documents $((documents * 112 / 100)) -file $((documents / 100)) -output all > /dev/null
rm -rf in old state measured before
mkdir in measured
ln all/part-000{00..99}.jsonl in/
find all -name '*.jsonl' -exec touch -d 2020-01-01 {} +

# job OUTPUT FLAGS runs a job over the folder in and prints its CPU-seconds.
TIMEFORMAT='%3U %3S'
job() {
  local output=$1
  shift
  { time "$bin/runjob" run --quiet --input in --output "$output" --overwrite --emit clusters,pairs "$@" 2>&3; } 3>&2 2>&1 |
    awk '{ print $1 + $2 }'
}
job before --state state "$@" > /dev/null
cp -al in old

# The nights: each changes the folder in, which holds the files of the first run.
nothing() { :; }
hundredth() { ln all/part-00100.jsonl in/; }
tenth() { ln all/part-0010{0..9}.jsonl in/; }
exchange() { rm in/part-00050.jsonl in/part-00070.jsonl && ln all/part-00110.jsonl in/part-00050.jsonl; }
median() { sort -n "$1" | sed -n "$(($(wc -l < "$1") / 2 + 1))p"; }

printf '%-24s %10s %10s %8s\n' night CPU-s 'all anew' share
for night in nothing hundredth tenth exchange; do
  rm -rf in
  cp -al old in
  "$night"
  for _ in $(seq "$runs"); do
    rm -rf tonight results
    cp -al state tonight
    cp -a before results
    job results --state tonight "$@" >> "measured/$night"
    job whole "$@" >> "measured/$night-whole"
    cmp <(cat results/clusters-* results/pairs-*) <(cat whole/clusters-* whole/pairs-*)
  done
  awk -v night="$night" -v n="$(median "measured/$night")" -v all="$(median "measured/$night-whole")" \
    'BEGIN { printf "%-24s %10.2f %10.2f %7.1f%%\n", night, n, all, 100 * n / all }'
done
du -sh state
