"""Measures datasketch and SimSIMD on the sets of a file: a line has a library, a task and the ns of CPU for each."""

import sys
import time

import numpy
import simsimd
from datasketch import MinHash

SIZE = 1000
sets = numpy.fromfile(sys.argv[1], dtype="<u8").reshape(-1, SIZE)
narrow = [numpy.unique((row >> numpy.uint64(32)).astype(numpy.uint32)) for row in sets]
numbers = [row.tolist() for row in narrow]


def measure(name, task, work, units):
    begun = time.process_time_ns()
    work()
    print(f"{name}\t{task}\t{(time.process_time_ns() - begun) / units:.1f}")


def intersect(rows):
    for a, b in zip(rows, rows[1:]):
        simsimd.intersect(a, b)


def signatures():
    for row in numbers:
        MinHash(num_perm=128, hashfunc=int).update_batch(row)


measure("SimSIMD (from Python)", "intersect", lambda: intersect(narrow), len(narrow) - 1)
ones = [row[:1] for row in narrow]
measure("SimSIMD (from Python), sets of 1", "intersect", lambda: intersect(ones), len(ones) - 1)
measure("datasketch", "minhash", signatures, len(numbers))
