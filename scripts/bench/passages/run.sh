#!/usr/bin/env bash
# Measures passages that are cut from CORPUS, lines of JSON with fields id and text, in turn with other tools, and judges what is left.
# usage: run.sh CORPUS.jsonl [ROUNDS]     (needs GNU time, and Python 3 with numpy as PYTHON; see ../README.md)
# Peers take part whose place is given in the environment:
#   GOOGLE      the program dedup_dataset of github.com/google-research/deduplicate-text-datasets
#   DATATROVE, DOLMA, TEXTDEDUP   the folders bin of environments of Python with these
#   TEXTDEDUP_GOOGLE   a clone of Google's with 'cargo build' done, which text-dedup calls
set -euo pipefail
python=${PYTHON:-python3}
corpus=$(realpath "${1:?usage: run.sh CORPUS.jsonl [ROUNDS]}")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/runjob" ./cmd/runjob

# The suffix array wants the texts one behind the other. 50 words have 300 bytes or so, with the spaces behind them.
"$python" "$here/texts.py" join "$corpus" "$work/texts"
mkdir "$work/folder" "$work/documents"
cp "$corpus" "$work/folder/corpus.jsonl"
gzip -c "$corpus" > "$work/documents/corpus.json.gz"

cat > "$work/mix.json" <<MIX
{"streams": [{"name": "cut", "documents": ["$work/documents/*"], "attributes": ["repeated"],
  "output": {"path": "$work/mixed", "max_size_in_bytes": 100000000000},
  "span_replacement": [{"span": "\$.attributes.repeated", "min_score": 0.5, "replacement": ""}]}], "processes": 1}
MIX
cat > "$work/config.toml" <<CONFIG
[input]
input_type = "local_files"
file_type = "json"
[input.read_arguments]
path = "json"
data_files = ["$corpus"]
split = "train"
[algorithm]
algorithm_name = "suffix_array"
text_column = "text"
merge_strategy = "overlapping"
length_threshold = 300
google_repo_path = "${TEXTDEDUP_GOOGLE:-}"
cache_dir = ".cache"
num_proc = 1
[output]
output_dir = "$work/text-dedup"
clean_cache = false
[debug]
enable_profiling = false
CONFIG

measure() { # NAME COMMAND...
  local name=$1
  shift
  (cd "$work" && command time -f "$name"$'\t%U\t%S\t%e\t%M' -a -o "$work/figures" "$@") > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
ours=(--input "$corpus" --overwrite --keys same-bytes)

for _ in $(seq "${2:-3}"); do
  if [ -n "${GOOGLE:-}" ]; then
    rm -rf "$work/cache" "$work/texts.table.bin"
    mkdir "$work/cache"
    measure "Google's suffix array" bash -ec '
      "$0" make --data-file texts
      "$0" self-similar --data-file texts --length-threshold 300 --cache-dir cache --num-threads "$(nproc)"
      "$0" collect --data-file texts --cache-dir cache --length-threshold 300 > ranges' "$GOOGLE"
  fi
  measure "trimmed: 50 words" "$work/runjob" run "${ours[@]}" --output words --emit trimmed,passages
  measure "trimmed: lines" "$work/runjob" run "${ours[@]}" --output lines --emit trimmed,passages --passage-unit lines --passage-words 1
  measure "runjob, nothing cut" "$work/runjob" run "${ours[@]}" --output without --emit removed
  if [ -n "${DATATROVE:-}" ]; then
    rm -rf "$work/datatrove"
    measure "datatrove, 3 sentences" "$DATATROVE/python" "$here/datatrove_sentences.py" folder datatrove
  fi
  if [ -n "${DOLMA:-}" ]; then
    rm -rf "$work/bloom" "$work/attributes" "$work/mixed"
    measure "dolma, paragraphs" bash -ec '
      "$0/dolma" dedupe --documents "$PWD/documents/*" --dedupe.name repeated --dedupe.paragraphs.attribute_name repeated --bloom_filter.file bloom \
        --no-bloom_filter.read_only --bloom_filter.estimated_doc_count 10000000 --bloom_filter.desired_false_positive_rate 0.000001 --processes 1
      "$0/dolma" -c mix.json mix' "$DOLMA"
  fi
  if [ -n "${TEXTDEDUP:-}" ]; then
    rm -rf "$work/text-dedup"
    PATH=$TEXTDEDUP:$PATH measure "text-dedup, suffix array" "$TEXTDEDUP/python" -m text_dedup.suffix_array
  fi
done
echo $'what\tuser\tsystem\twall\tKB'
sort "$work/figures"

judge() { # NAME RESULT...
  [ ! -e "$2" ] || { printf '%s\t' "$1"; shift; "$python" "$here/texts.py" judge "$corpus" "$@"; }
}
if [ -n "${GOOGLE:-}" ]; then
  "$python" "$here/texts.py" cut "$work/texts" "$work/ranges" "$work/google.jsonl"
  judge "Google's suffix array" "$work/google.jsonl"
fi
judge "trimmed: 50 words" "$work"/words/trimmed-*
judge "trimmed: lines" "$work"/lines/trimmed-*
judge "datatrove, 3 sentences" "$work/datatrove/kept/00000.jsonl"
judge "dolma, paragraphs" "$work/mixed/cut-0000.json.gz"
if [ -d "$work/text-dedup" ]; then
  "$TEXTDEDUP/python" -c 'import datasets, sys; datasets.load_from_disk(sys.argv[1]).to_json(sys.argv[2])' "$work/text-dedup" "$work/text-dedup.jsonl" > /dev/null
  judge "text-dedup, suffix array" "$work/text-dedup.jsonl"
fi
