from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from ._errors import BY_CODE, ConditionMet, InternalError
from ._program import find_runjob
from ._progress import shower
from ._results import Results


def run_job(settings: dict, beam: Mapping[str, Any] | None, progress: bool | Callable[[dict], None] | None) -> Results:
    """Runs a job with the settings that are not None."""
    given = {name: value for name, value in settings.items() if value is not None}
    if not _only_copies(given.get("emit")):
        given.setdefault("output_format", "parquet")
    temporary = None if "output" in given else tempfile.mkdtemp(prefix="mirrorbeam-")
    output = os.fspath(given.setdefault("output", temporary))
    try:
        code, errors = _call(given, beam, shower(progress))
        results = Results(output) if code in (0, 10) else None
    except BaseException:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    if temporary and results:
        weakref.finalize(results, shutil.rmtree, temporary, ignore_errors=True)
    elif temporary:
        shutil.rmtree(temporary, ignore_errors=True)
    if code == 0:
        return results
    if code == 130:
        raise KeyboardInterrupt
    message = "\n".join(errors) or f"runjob has ended with {code}"
    # The program speaks of flags.
    message = re.sub(r"--([a-z][a-z-]*[a-z])", lambda flag: _setting(flag, settings), message)
    error = BY_CODE.get(code, InternalError)(message, code)
    if isinstance(error, ConditionMet):
        error.results = results
    raise error


def _only_copies(emit: str | list[str] | None) -> bool:
    """Whether all outputs are copies of records, which have the format of the input."""
    names = emit.split(",") if isinstance(emit, str) else emit or ["clusters"]
    return all(name.strip() in ("unique", "annotated", "trimmed") for name in names)


def _setting(flag: re.Match, settings: dict) -> str:
    name = flag[1].replace("-", "_")
    return name if name in settings else flag[0]


def _call(settings: dict, beam: Mapping[str, Any] | None, show: Callable[[dict | None], None]) -> tuple[int, list[str]]:
    """Calls the program, and returns its exit code and its errors. JSON is YAML, the format of its settings."""
    with tempfile.TemporaryDirectory(prefix="mirrorbeam-") as temp:
        path = os.path.join(temp, "settings.yaml")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(settings, f, default=_plain)
        command = [find_runjob(), "run", "--config", path, "--log-format", "json", "--log-every", "500ms"]
        command += [f"--{name}={_plain_flag(value)}" for name, value in (beam or {}).items()]
        # The arguments of the call are all there is: variables would come before them.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNJOB_")}
        errors: list[str] = []
        # In a group of its own the program gets an interruption once, from here, and ends in good order.
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment,
            encoding="utf-8", errors="replace", start_new_session=True,
        ) as process:
            try:
                for line in process.stderr:
                    _hear(line.rstrip("\n"), errors, show)
                code = process.wait()
            except BaseException:
                process.send_signal(signal.SIGINT)
                process.communicate()
                raise
            finally:
                show(None)
    # The caller has not written the file that a message may name.
    return code, [re.sub(rf" \(from {re.escape(path)}:\d+\)", "", error) for error in errors]


def _plain(value: Any) -> Any:
    """What JSON does not know: paths, and numbers and lists of NumPy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return os.fsdecode(value)


def _plain_flag(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _hear(line: str, errors: list[str], show: Callable[[dict | None], None]) -> None:
    """Hears a line of the program: a message, or a fault of the settings as plain text."""
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        if line and not line.startswith("See '"):
            errors.append(line[len("runjob: "):] if line.startswith("runjob: ") else line)
    elif message.get("level") == "ERROR":
        errors.append(message["msg"])
    elif message.get("level") == "WARN":
        # Behind run_job and the function of the package.
        warnings.warn(message["msg"], stacklevel=5)
    else:
        show(message)
