#!/bin/sh
# Fetches the manuals of a compiler in several versions, as web pages, from Debian into a folder:
#
#     scripts/manuals/fetch.sh manuals
#
# It needs apt-get and dpkg.
set -eu
mkdir -p "$1"
cd "$1"
apt-get download -q clang-13-doc clang-14-doc clang-15-doc clang-16-doc llvm-13-doc llvm-14-doc llvm-15-doc llvm-16-doc
for package in *.deb; do
	dpkg -x "$package" "${package%%_*}"
	rm "$package"
done
