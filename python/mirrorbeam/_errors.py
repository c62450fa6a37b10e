from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._results import Results


class RunjobError(Exception):
    """The program has failed. code is its exit code."""

    def __init__(self, message: str, code: int = 1):  # pickle calls it with the message alone
        super().__init__(message)
        self.code = code


class InternalError(RunjobError):
    """A fault of the program (exit code 1), or it was killed."""


class UsageError(RunjobError, ValueError):
    """A setting is wrong (exit code 2)."""


class InputError(RunjobError):
    """The input cannot be used (exit code 3)."""


class StorageError(RunjobError, OSError):
    """An output or a temporary folder cannot be written to, or a limit of the machine is too low (exit code 4)."""


class UnavailableError(StorageError):
    """What may pass although nothing is changed (exit code 75), such as a lease that another job holds."""


class ConditionMet(RunjobError):
    """All went well, and a condition of guard or fail_on is met (exit code 10). results are the results."""

    results: Results | None = None


BY_CODE = {2: UsageError, 3: InputError, 4: StorageError, 10: ConditionMet, 75: UnavailableError}
