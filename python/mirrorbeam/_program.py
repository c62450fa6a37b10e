from __future__ import annotations

import os
import platform
import shutil
import sys
import sysconfig
from importlib import metadata

try:
    __version__ = metadata.version("mirrorbeam")
except metadata.PackageNotFoundError:  # imported from its source
    __version__ = "0+source"


def find_runjob() -> str:
    """The path of the program runjob that was installed with this package, or of another one in PATH."""
    # Where pip puts programs: beside the packages with --target and --prefix, in this environment, or for the user.
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    user = "osx_framework_user" if sys.platform == "darwin" and getattr(sys, "_framework", "") else f"{os.name}_user"
    folders = [os.path.join(package, "bin"), os.path.normpath(os.path.join(package, "..", "..", "..", "bin"))]
    folders += [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user)]
    for folder in folders:
        path = os.path.join(folder, "runjob")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    found = shutil.which("runjob")
    if found is None:
        raise FileNotFoundError(
            f"the program runjob is neither in {', '.join(dict.fromkeys(folders))} nor in PATH. The wheels of mirrorbeam have it, for "
            f"Linux and macOS on x86-64 and arm64 (this is {platform.system()} on {platform.machine()}); on Windows use WSL. Install "
            "the wheel, or in a clone: go build -o DIR/runjob ./cmd/runjob, with DIR a folder of PATH"
        )
    return found
