from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from ._call import ask, call, config_file, error_of, plain_flag
from ._data import Data, adapted, are_paths, write
from ._errors import ConditionMet, UsageError
from ._progress import shower
from ._results import Results

# Settings that are about files, or about what another run finds again.
_OF_FILES = (
    "state", "add", "rebuild", "republish", "resume", "removal_limit", "allow_removal", "allow_older_state",
    "layout", "format", "include", "exclude",
)


def run_job(
    command: str,
    data: Any,
    settings: Mapping[str, Any],
    beam: Mapping[str, Any] | None = None,
    progress: bool | Callable[[dict[str, Any]], None] | None = None,
    *,
    paths: bool,
    emit: tuple[str, ...] = (),
) -> Results:
    """Runs a job with the settings that are not None. Of data in memory it writes the outputs emit, unless the settings name some."""
    temporary = tempfile.mkdtemp(prefix="mirrorbeam-")
    results: Results | None = None
    try:
        given, source, rows = _read(data, settings, paths, os.path.join(temporary, "input"), emit)
        if source or not _only_copies(given.get("emit")):
            given.setdefault("output_format", "parquet")
        is_kept = "output" in given and source is None
        output = os.fspath(given.setdefault("output", os.path.join(temporary, "results")))
        with config_file(given) as path:
            arguments = [command, "--config", path, "--log-format", "json", "--log-every", "500ms"]
            arguments += [f"--{name}={plain_flag(value)}" for name, value in (beam or {}).items()]
            code, errors, _ = call(arguments, shower(progress))
        if code in (0, 10):
            results = Results(output, source, rows, None if is_kept else temporary)
        if code != 0 or results is None:
            # The caller has not written the files that a message may name.
            errors = [re.sub(rf" \(from {re.escape(path)}:\d+\)", "", error) for error in errors]
            error = error_of(code, [error.replace(os.path.join(temporary, "input", ""), "") for error in errors], settings)
            if isinstance(error, ConditionMet):
                error.results = results
            raise error
        return results
    finally:
        if results is None or is_kept:
            shutil.rmtree(temporary, ignore_errors=True)


def make_plan(data: Any, settings: Mapping[str, Any], *, paths: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="mirrorbeam-") as temporary:
        given, _, _ = _read(data, settings, paths, os.path.join(temporary, "input"), ())
        with config_file(given) as path:
            return dict(json.loads(ask(["plan", "--config", path, "--json"], settings)))


def _read(
    data: Any, settings: Mapping[str, Any], paths: bool, folder: str, emit: tuple[str, ...]
) -> tuple[dict[str, Any], Data | None, dict[str, int]]:
    """The settings with the input: paths, or data, which is written to files in a folder."""
    given = {name: value for name, value in settings.items() if value is not None}
    if paths and are_paths(data) or isinstance(data, os.PathLike):
        return {**given, "input": data}, None, {}
    for name in _OF_FILES:
        if name in given:
            raise UsageError(f"{name}: is for files: write the data to files, and give their paths to mirrorbeam.run", 2)
    if given.get("similarity") == "containment":
        emit = ("pairs",)
    outputs = given.get("emit") or emit
    names = [name.strip() for name in (outputs.split(",") if isinstance(outputs, str) else outputs)]
    if names:  # the records that stay are those of the data that are not removed
        given["emit"] = list(dict.fromkeys("removed" if name == "unique" else name for name in names))
    os.mkdir(folder)
    source = adapted(data)
    rows = write(source, folder, given)
    return {**given, "input": [os.path.join(folder, name) for name in rows]}, source, rows


def _only_copies(emit: str | list[str] | None) -> bool:
    """Whether all outputs are copies of records, which have the format of the input."""
    names = emit.split(",") if isinstance(emit, str) else emit or ["clusters"]
    return all(name.strip() in ("unique", "annotated", "trimmed") for name in names)
