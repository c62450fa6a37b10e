"""python -m mirrorbeam is runjob."""

import os
import sys

from ._program import find_runjob

if __name__ == "__main__":
    program = find_runjob()
    os.execv(program, [program, *sys.argv[1:]])
