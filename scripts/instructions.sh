#!/usr/bin/env bash
# Counts the instructions that one iteration of a benchmark of asmkernels executes on
# arm64, in the functions whose names match: where no such machine is at hand, they say
# what time cannot. Needs qemu-user.
#
#   scripts/instructions.sh FUNCTIONS BENCHMARK
#   scripts/instructions.sh minHash '^BenchmarkMinHash$/^neon$/^128x200$'
set -euo pipefail
cd "$(dirname "$0")/.."

functions=$1 benchmark=$2
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

GOARCH=arm64 CGO_ENABLED=0 go test -c -o "$scratch/test" ./asmkernels
# A function goes from its address to that of the next symbol.
ranges=$(go tool nm -n "$scratch/test" | awk -v name="mirrorbeam.dev/asmkernels[.]$functions" '
  start { printf "%s0x%s..0x%s", comma, start, $1; comma = ","; start = "" }
  $2 ~ /[Tt]/ && $3 ~ name { start = $1 }')
[ -n "$ranges" ] || { echo "no function of asmkernels matches $functions" >&2 && exit 1; }
# The log has a line for each instruction in the ranges.
(cd asmkernels && "$emulator" -singlestep -d nochain,exec -dfilter "$ranges" -D "$scratch/log" "$scratch/test" \
  -test.run '^$' -test.bench "$benchmark" -test.benchtime 1x -test.cpu 1) | grep ^Benchmark
wc -l <"$scratch/log"
