from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ._errors import BY_CODE, InternalError, RunjobError
from ._program import find_runjob


def call(arguments: list[str], show: Callable[[dict[str, Any] | None], None] = lambda message: None) -> tuple[int, list[str], str]:
    """Calls the program, and returns its exit code, its errors and its output."""
    errors: list[str] = []
    # In a group of its own the program gets an interruption once, from here, and ends in good order.
    with tempfile.TemporaryFile() as out, subprocess.Popen(
        [find_runjob(), *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=environment(),
        encoding="utf-8", errors="replace", start_new_session=True,
    ) as process:
        try:
            for line in process.stderr or ():
                _hear(line.rstrip("\n"), errors, show)
            code = process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
        finally:
            show(None)
        out.seek(0)
        return code, errors, out.read().decode("utf-8", "replace")


def ask(arguments: list[str], settings: Iterable[str] = ()) -> str:
    """Calls the program, and returns its output."""
    code, errors, out = call(arguments)
    if code != 0:
        raise error_of(code, errors, settings)
    return out


def environment() -> dict[str, str]:
    """The arguments of a call are all there is: variables would come before them."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RUNJOB_")}


def error_of(code: int, errors: list[str], settings: Iterable[str] = ()) -> RunjobError:
    """The error of an exit code. The program speaks of flags, the caller of settings."""
    if code == 130:
        raise KeyboardInterrupt
    known = set(settings)

    def setting(flag: re.Match[str]) -> str:
        name = flag[1].replace("-", "_")
        return name if name in known else flag[0]

    message = re.sub(r"--([a-z][a-z-]*[a-z])", setting, "\n".join(errors) or f"runjob has ended with {code}")
    return BY_CODE.get(code, InternalError)(message, code)


@contextmanager
def config_file(settings: dict[str, Any]) -> Iterator[str]:
    """A file with settings. JSON is YAML, the format of the program."""
    with tempfile.TemporaryDirectory(prefix="mirrorbeam-") as folder:
        path = os.path.join(folder, "settings.yaml")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(settings, f, default=_plain)
        yield path


def _plain(value: Any) -> Any:
    """What JSON does not know: paths, and numbers and lists of NumPy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return os.fsdecode(value)


def plain_flag(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _hear(line: str, errors: list[str], show: Callable[[dict[str, Any] | None], None]) -> None:
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
        warnings.warn(message["msg"], stacklevel=_level_of_caller())
    else:
        show(message)


def _level_of_caller() -> int:
    """How many calls _hear is behind who has called the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    return level
