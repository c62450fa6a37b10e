#!/usr/bin/env bash
# Makes corpora that are made to cost much in FOLDER, and an ordinary one of each
# shape, and prints what each costs as a multiple of the ordinary one.
# usage: costly.sh FOLDER [FLAGS OF bench]     (see README.md)
set -euo pipefail
folder=$(mkdir -p "${1:?usage: costly.sh FOLDER [-runs N]}" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
for kind in ordinary vocabulary fours families cliques eights; do
  go run ./scripts/dense -kind "$kind" > "$folder/$kind.jsonl"
done
go run ./scripts/dense -words 120 > "$folder/ordinary120.jsonl"
go run ./scripts/bench -ratios "$@" "$folder"/{ordinary,vocabulary,fours,families,cliques}.jsonl
go run ./scripts/bench -ratios "$@" "$folder"/{ordinary120,eights}.jsonl
