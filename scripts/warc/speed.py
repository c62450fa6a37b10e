#!/usr/bin/env python3
"""Measures how fast Python's warcio and fastwarc read the archives of BenchmarkArchives, in MB of decoded bytes a second of
processor time.

    pip install warcio==1.8.1 fastwarc==2.0.1
    scripts/warc/speed.py ../shared/corpora/warc internal/input/warc/testdata/warcio.tsv
    scripts/warc/speed.py crawl

With a folder alone, all its files are read, which must not be damaged: see scripts/warc/crawl -undamaged.
"""
import gzip
import io
import pathlib
import sys
import time

from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator


def is_cut(file):
    try:
        gzip.decompress(file)
    except EOFError:
        return True
    return False


def with_gzip(file):
    reader = gzip.GzipFile(fileobj=io.BytesIO(file))
    while reader.read(1 << 17):
        pass


def with_warcio(file):
    for record in ArchiveIterator(io.BytesIO(file)):
        while record.content_stream().read(1 << 17):
            pass


def with_fastwarc(file):
    for record in FastIterator(io.BytesIO(file), parse_http=True):
        record.reader.read()


def main():
    folder = pathlib.Path(sys.argv[1])
    if len(sys.argv) == 2:
        measure([path.read_bytes() for path in sorted(folder.glob("*.warc.gz"))])
        return
    rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[2])]
    files = [(folder / name).read_bytes() for name, _, error in rows if name.endswith("warc.gz") and not error]
    measure([file for file in files if not is_cut(file)])


def measure(files):
    """Prints the speed of each reader."""
    decoded = sum(len(gzip.decompress(file)) for file in files)
    for read in with_gzip, with_warcio, with_fastwarc:
        speeds = []
        for _ in range(5):
            began = time.process_time()
            for file in files:
                read(file)
            speeds.append(decoded / 1e6 / (time.process_time() - began))
        print(f"{read.__name__}: {max(speeds):.0f} MB/cpu-s, median {sorted(speeds)[2]:.0f}, of {decoded / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
