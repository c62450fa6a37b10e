"""Finds the near-duplicate documents of a corpus, and mirror sites, with the program runjob.

    import mirrorbeam
    unique = mirrorbeam.dedupe(frame, on="body")     # the same kind of data: a frame, a table, a Dataset, a list
    results = mirrorbeam.run(frame, text_field="body")     # what was found, to look at
    results = mirrorbeam.run("corpus/*.jsonl.zst", "out", threshold=0.7, emit=["clusters", "removed", "unique"])
    results.removed()            # a pyarrow.Table
    results.unique("datasets")   # a datasets.Dataset; also "pandas" and "polars"

The settings are those of 'runjob run'; help(mirrorbeam.run) lists them.
"""

from ._errors import ConditionMet, InputError, InternalError, RunjobError, StorageError, UnavailableError, UsageError
from ._api import Query, dedupe, mirrors, plan, query
from ._program import __version__, find_runjob
from ._results import Results
from ._run import run

__all__ = [
    "Query",
    "__version__",
    "dedupe",
    "mirrors",
    "plan",
    "query",
    "ConditionMet",
    "InputError",
    "InternalError",
    "Results",
    "RunjobError",
    "StorageError",
    "UnavailableError",
    "UsageError",
    "find_runjob",
    "run",
]
