from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ._call import environment, error_of
from ._errors import UsageError
from ._job import make_plan, run_job
from ._program import find_runjob
from ._results import Results
from ._run import SETTINGS, Settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


def dedupe(
    data: T,
    *,
    on: str | Sequence[str] | None = None,
    id: str | None = None,
    paths: bool = False,
    progress: bool | Callable[[dict[str, Any]], None] | None = None,
    **settings: Unpack[Settings],
) -> T:
    """Returns data without near-duplicates, as the same kind of data: rows are left out, and nothing else changes.

    data is a frame, lazy frame or series of pandas or Polars, a table, array or reader of Arrow, a Dataset or DatasetDict, or a
    list, tuple or iterator of dicts or of texts. Of splits, an earlier one keeps what a later one repeats. A row without a text
    stays. With paths=True strings are names of files and folders, output is needed, and the files in it are returned.

    on: Column of the text, or columns; text unless it is given, or there is one column only.
    id: Column that names the rows; without it, id or the number of the row.
    settings: Those of mirrorbeam.run, such as threshold, within and keep.

    mirrorbeam.run takes the same data and returns what was found.
    """
    given = _settings("dedupe", on, id, settings)
    if paths or isinstance(data, os.PathLike):
        if given.get("output") is None:
            raise UsageError("output: name a folder for the files of what stays", 2)
        files = run_job("run", data, {**given, "emit": ["unique"]}, None, progress, paths=True).files("unique")
        return files  # type: ignore[return-value]
    with run_job("run", data, given, None, progress, paths=False, emit=("removed",)) as results:
        return results.unique()  # type: ignore[no-any-return]


def mirrors(
    data: Any,
    *,
    paths: bool = True,
    beam: Mapping[str, Any] | None = None,
    progress: bool | Callable[[dict[str, Any]], None] | None = None,
    **settings: Unpack[Settings],
) -> Results:
    """Finds mirrors among the sites of a corpus, as 'runjob mirrors' does, whose settings are those of mirrorbeam.run."""
    given = _settings("mirrors", None, None, settings)
    return run_job("mirrors", data, given, beam, progress, paths=paths)


def plan(data: Any, *, paths: bool = True, **settings: Unpack[Settings]) -> dict[str, Any]:
    """What a job would take, and what other keys would, as 'runjob plan --json' says it."""
    return make_plan(data, _settings("plan", None, None, settings), paths=paths)


class Query:
    """An index that is held open: each call finds the near-duplicates of documents among those of a state.

        with mirrorbeam.query("state", threshold=0.9) as similar:
            similar("a text")                # rows such as {"match": "hare.txt", "jaccard": 0.94, ...}
            similar(["a text", "another"])   # a list of rows for each

    A document is a text, or a dict with the fields on and id. Several threads may call.
    """

    def __init__(self, state: str | os.PathLike[str], on: str, id: str, flags: list[str]):
        self._on, self._sent, self._lock = on, 0, threading.Lock()
        self._errors = tempfile.TemporaryFile()
        command = [find_runjob(), "query", "--state", os.fspath(state), "--input", "-", f"--text-field={on}", f"--id-field={id}", *flags]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment(), start_new_session=True
        )
        self._ask([], 16)  # it is open, or says why not; its first bytes tell how a stream is compressed

    def __call__(self, documents: Any) -> Any:
        is_one = isinstance(documents, (str, Mapping))
        with self._lock:
            answers = self._ask([documents] if is_one else documents)
        return answers[0] if is_one else answers

    def _ask(self, documents: Iterable[Any], blanks: int = 1) -> list[list[dict[str, Any]]]:
        lines = [json.dumps({self._on: one} if isinstance(one, str) else one).encode() + b"\n" for one in documents]
        answers: dict[int, list[dict[str, Any]]] = {}
        for line in lines:
            answers[self._sent] = []
            self._sent += len(line)
        self._sent += blanks
        writer = threading.Thread(target=self._write, args=(b"".join(lines) + b"\n" * blanks,))
        writer.start()
        assert self._process.stdout is not None
        while blanks:  # a blank line is answered by one
            row = self._process.stdout.readline()
            if row == b"\n":
                blanks -= 1
                continue
            if not row:
                writer.join()
                self._errors.seek(0)
                text = self._errors.read().decode("utf-8", "replace").strip()
                self.close()
                raise error_of(self._process.returncode or 1, [text.partition("runjob: ")[2] or text])
            match = json.loads(row)
            answers[int(match["ref"].rpartition(":")[2])].append(match)
        writer.join()
        return list(answers.values())

    def _write(self, lines: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(lines)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # the reader says why

    def close(self) -> None:
        """Ends the program."""
        try:
            self._process.communicate()
        except (OSError, ValueError):
            self._process.wait()
        self._errors.close()

    def __enter__(self) -> Query:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def query(
    state: str | os.PathLike[str],
    *,
    on: str = "text",
    id: str = "id",
    threshold: float | None = None,
    top: int = 0,
    add: bool = False,
    window: int = 0,
) -> Query:
    """Opens the index of a state, which a run with state= has made, to look up documents."""
    flags = [f"--top={top}", f"--window={window}"] + (["--add"] if add else [])
    return Query(state, on, id, flags + ([] if threshold is None else [f"--threshold={threshold}"]))


def _settings(function: str, on: Any, id: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    for name in settings:
        if name not in SETTINGS:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    texts = {} if on is None else {"weight": dict.fromkeys(on, 1)} if isinstance(on, (list, set)) else {"text_field": on}
    return {**settings, **texts, **({} if id is None else {"id_field": id})}
