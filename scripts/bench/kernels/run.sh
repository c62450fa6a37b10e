#!/bin/sh
# Measures kernels beside those of other libraries: run.sh FOLDER [-runs N]. The libraries are put into the folder.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
[ -d "$folder/python" ] || python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q datasketch==2.0.0 simsimd==6.5.16
[ -f "$folder/hash4j.jar" ] || curl -fsSLo "$folder/hash4j.jar" \
	https://repo1.maven.org/maven2/com/dynatrace/hash4j/hash4j/0.20.0/hash4j-0.20.0.jar
GOPROXY='https://proxy.golang.org|direct' go build -o "$folder/kernels" .
"$folder/kernels" "$@" "$folder"
