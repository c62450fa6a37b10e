from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def shower(progress: bool | Callable[[dict[str, Any]], None] | None) -> Callable[[dict[str, Any] | None], None]:
    """What shows messages of the program. It gets None at the end."""
    if callable(progress):
        return lambda message: progress(message) if message is not None else None
    if progress is not False and _in_notebook():
        return _Notebook()
    if progress or progress is None and sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    return lambda message: None


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def line(message: dict[str, Any]) -> str:
    """A message as a line for people."""
    if message.get("msg") != "progress":
        if message.get("msg") == "the job has ended":
            n = message.get("counts", {})
            return (
                f"{n.get('documents', 0):,} documents: {n.get('pairs', 0):,} pairs, {n.get('clusters', 0):,} clusters, "
                f"{n.get('removed', 0):,} removed, {n.get('kept', 0):,} kept, in {message.get('seconds', 0):.1f} s"
            )
        return str(message.get("msg", ""))
    done, tasks = message["tasks_done"], max(message["tasks"], 1)
    parts = [f"{message['stage']:<11} {'█' * (20 * done // tasks):░<20} {100 * done // tasks:3d} %"]
    if message["seconds_left"] > 0:
        parts.append(f"{message['seconds_left']:.0f} s left")
    parts += [f"{message['records']:,} records", f"{message['bytes'] / 1e6:,.1f} MB"]
    return "  ".join(parts)


class _Terminal:
    def __init__(self) -> None:
        self.open = False

    def __call__(self, message: dict[str, Any] | None) -> None:
        if message is not None:
            sys.stderr.write("\r\x1b[K" + line(message))
            self.open = True
        elif self.open:
            sys.stderr.write("\n")
        sys.stderr.flush()


class _Notebook:
    """A line below the cell, which changes."""

    def __init__(self) -> None:
        self.handle = None

    def __call__(self, message: dict[str, Any] | None) -> None:
        if message is None:
            return
        import IPython

        shown: Any = IPython.display.display
        content = {"text/plain": line(message)}
        if self.handle is None:
            self.handle = shown(content, raw=True, display_id=True)
        else:
            self.handle.update(content, raw=True)
