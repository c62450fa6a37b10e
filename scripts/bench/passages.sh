#!/usr/bin/env bash
# Measures passages that are cut from CORPUS, lines of JSON with a field text, in turn with Google's suffix array
# (github.com/google-research/deduplicate-text-datasets, built with cargo build --release), and without passages.
# usage: passages.sh CORPUS.jsonl DEDUP_DATASET [ROUNDS]     (needs Python 3 and GNU time; see README.md)
set -euo pipefail
corpus=$(realpath "${1:?usage: passages.sh CORPUS.jsonl DEDUP_DATASET [ROUNDS]}")
peer=$(realpath "${2:?the program dedup_dataset}")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/runjob" ./cmd/runjob

# The suffix array wants the texts one behind the other. 50 words have 300 bytes or so, with the spaces behind them.
python3 - "$corpus" "$work/texts" <<'PYTHON'
import json, sys
with open(sys.argv[2], "wb") as out:
    for number, line in enumerate(open(sys.argv[1], encoding="utf-8")):
        try:
            text = json.loads(line)["text"]
        except (ValueError, KeyError):
            continue  # a reject of runjob, too
        out.write(b"\xff\xff" + number.to_bytes(4, "little") + text.encode("utf-8", "replace"))
PYTHON

measure() { # NAME COMMAND...
  local name=$1
  shift
  command time -f "$name"$'\t%U\t%S\t%e\t%M' -a -o "$work/figures" "$@" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

for _ in $(seq "${3:-3}"); do
  rm -rf "$work/cache" "$work"/texts.table.bin "$work/out"
  mkdir "$work/cache"
  measure "suffix array" bash -ec '
    "$0" make --data-file "$1/texts"
    "$0" self-similar --data-file "$1/texts" --length-threshold 300 --cache-dir "$1/cache" --num-threads "$(nproc)"
    "$0" collect --data-file "$1/texts" --cache-dir "$1/cache" --length-threshold 300' "$peer" "$work"
  measure trimmed "$work/runjob" run --input "$corpus" --output "$work/out" --overwrite --keys same-bytes --emit trimmed,passages
  measure "without" "$work/runjob" run --input "$corpus" --output "$work/out" --overwrite --keys same-bytes --emit removed
done
echo $'what\tuser\tsystem\twall\tKB'
sort "$work/figures"
