#!/usr/bin/env python3
"""Counts the records of archives by type, as Python's warcio reads them.

    pip install warcio==1.8.1
    scripts/warc/counts.py ../shared/corpora/warc > internal/input/warc/testdata/warcio.tsv

A line has the archive, the records of each type, and the kind of error that ended the reading, if one did. warcio does
not read lz4.
"""
import collections
import contextlib
import os
import pathlib
import sys

from warcio.archiveiterator import ArchiveIterator


def count(path):
    """Returns the records of each type, and the name of the error."""
    counts = collections.Counter()
    try:
        with open(path, "rb") as file:
            for record in ArchiveIterator(file):
                counts[record.rec_type] += 1
                while record.raw_stream.read(1 << 16):
                    pass
    except Exception as error:  # whatever stops it is what is to be known
        return counts, type(error).__name__
    return counts, ""


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in sorted(folder.glob("*/*")):
        if path.suffix in (".json", ".txt", ".lz4"):
            continue
        with open(os.devnull, "w") as quiet, contextlib.redirect_stderr(quiet):
            counts, error = count(path)
        types = " ".join(f"{kind}={n}" for kind, n in sorted(counts.items()))
        print(path.relative_to(folder), types, error, sep="\t")


if __name__ == "__main__":
    main()
