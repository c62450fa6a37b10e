"""Measures a frame of short records through mirrorbeam.dedupe against the same job on files.

    python3 scripts/bench/frame.py 1000000 3

prints CPU seconds (user and system, with those of the program) and wall seconds: the least of the runs in turn.
"""

import os
import random
import sys
import tempfile
import time

import mirrorbeam
import pandas
import polars


def texts(count):
    drawn = random.Random(1)
    words = [f"{a}{b}" for a in ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu") for b in range(200)]
    made = []
    for i in range(count):
        made.append(drawn.choice(made) if i % 10 == 9 else " ".join(drawn.choices(words, k=12)))
    return made


def spent():
    return sum(os.times()[:4])


def main(count, runs):
    frame = pandas.DataFrame({"id": range(count), "text": texts(count), "n": range(count)})
    coded = polars.from_pandas(frame)
    with tempfile.TemporaryDirectory() as folder:
        frame.to_json(f"{folder}/a.jsonl", orient="records", lines=True)
        frame.to_parquet(f"{folder}/a.parquet")
        ways = {
            "pandas": lambda: mirrorbeam.dedupe(frame),
            "polars": lambda: mirrorbeam.dedupe(coded),
            "list of texts": lambda: mirrorbeam.dedupe(frame["text"].tolist()),
            **{
                f"{form}, emit unique": lambda form=form: mirrorbeam.run(f"{folder}/a.{form}", f"{folder}/out", emit="unique", overwrite=True)
                for form in ("jsonl", "parquet")
            },
        }
        least = {}
        for _ in range(runs):
            for name, way in ways.items():
                cpu, wall = spent(), time.monotonic()
                way()
                took = (spent() - cpu, time.monotonic() - wall)
                least[name] = min(least.get(name, took), took)
        for name, (cpu, wall) in least.items():
            print(f"{name:24} {cpu:7.2f} CPU-s {wall:7.2f} s   {cpu / least['jsonl, emit unique'][0]:.2f} of the job on JSON lines")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
