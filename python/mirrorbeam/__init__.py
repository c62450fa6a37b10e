"""Finds the near-duplicate documents of a corpus, and mirror sites, with the program runjob.

    import mirrorbeam
    results = mirrorbeam.run("corpus/*.jsonl.zst", "out", threshold=0.7, emit=["clusters", "removed", "unique"])
    results.removed()            # a pyarrow.Table
    results.unique("datasets")   # a datasets.Dataset; also "pandas" and "polars"

The settings are those of 'runjob run'; help(mirrorbeam.run) lists them.
"""

from ._errors import ConditionMet, InputError, InternalError, RunjobError, StorageError, UsageError
from ._program import find_runjob
from ._results import Results
from ._run import run

__all__ = [
    "ConditionMet",
    "InputError",
    "InternalError",
    "Results",
    "RunjobError",
    "StorageError",
    "UsageError",
    "find_runjob",
    "run",
]
