#!/usr/bin/env bash
# Makes a corpus of a hundred files in FOLDER, and prints what incremental runs cost as a share of a run over everything:
# CPU time and peak memory, medians of runs in turn. It checks that the results are the same bytes. COMMAND=mirrors runs `runjob mirrors`:
# a hundred documents are a site then, and every twentieth site has a copy. EMIT names other outputs, such as pairs for --similarity containment.
# FOLDER should be on tmpfs, such as in /dev/shm, where a million documents take 2 GB: on ext4 without a journal a run pays for files that other
# programs have removed.
# usage: [COMMAND=mirrors] [EMIT=pairs] incremental.sh FOLDER [DOCUMENTS [RUNS [FLAGS OF runjob]]]
set -euo pipefail
folder=$(mkdir -p "${1:?usage: [COMMAND=mirrors] incremental.sh FOLDER [DOCUMENTS [RUNS [FLAGS OF runjob]]]}" && cd "$1" && pwd)
documents=${2:-1000000} runs=${3:-5} command=${COMMAND:-run}
shift $(($# < 3 ? $# : 3))
cd "$(dirname "$0")/../.."
bin=$folder/bin
mkdir -p "$bin"
go build -buildvcs=auto -o "$bin" ./cmd/runjob ./scripts/scale
cd "$folder"
"$bin/scale" -documents $((documents * 112 / 100)) -file $((documents / 100)) -output all > /dev/null
emitted=${EMIT:-clusters,pairs}
if [ "$command" = mirrors ]; then
  emitted=mirrors,sites
  for file in all/*.jsonl; do
    awk -v file="${file//[!0-9]/}" '{
      site = int(NR / 100)
      sub(/^\{/, "{\"url\":\"http://s" file "x" site ".example/" NR "\",")
      print
      if (site % 20 == 3) { sub(/\/\/s/, "//copy"); print }
    }' "$file" > pages && mv pages "$file"
  done
fi
rm -rf in old state measured before
mkdir in measured
ln all/part-000{00..99}.jsonl in/
find all -name '*.jsonl' -exec touch -d 2020-01-01 {} +

# job OUTPUT FLAGS runs a job over the folder in and prints its CPU-seconds and its peak memory in MB.
job() {
  local output=$1
  shift
  /usr/bin/time -f '%U %S %M' -o used "$bin/runjob" "$command" --quiet --input in --output "$output" --overwrite --emit "$emitted" "$@"
  awk '{ print $1 + $2, int($3 / 1024) }' used
}
job before --state state "$@" > /dev/null
cp -al in old

# The changes, each to the folder in, which holds the files of the first run.
nothing() { :; }
hundredth() { ln all/part-00100.jsonl in/; }
tenth() { ln all/part-0010{0..9}.jsonl in/; }
exchange() { rm in/part-00050.jsonl in/part-00070.jsonl && ln all/part-00110.jsonl in/part-00050.jsonl; }
median() { cut -d ' ' -f "$2" "measured/$1" | sort -n | sed -n "$(($(wc -l < "measured/$1") / 2 + 1))p"; }
rows() { find "$1" -name '*.jsonl' ! -name 'changes*' ! -name 'rejects*' | sort | xargs cat; }

printf '%-12s %10s %10s %8s %10s %10s\n' change CPU-s 'full run' share MB 'full run'
for change in nothing hundredth tenth exchange; do
  rm -rf in
  cp -al old in
  "$change"
  for _ in $(seq "$runs"); do
    rm -rf trial results
    cp -al state trial
    cp -a before results
    job results --state trial "$@" >> "measured/$change"
    job whole "$@" >> "measured/$change-whole"
    cmp <(rows results) <(rows whole)
  done
  awk -v change="$change" -v n="$(median "$change" 1)" -v all="$(median "$change-whole" 1)" -v mb="$(median "$change" 2)" -v most="$(median "$change-whole" 2)" \
    'BEGIN { printf "%-12s %10.2f %10.2f %7.1f%% %10d %10d\n", change, n, all, 100 * n / all, mb, most }'
done
du -sh state
