from __future__ import annotations

import os
import shutil
import sys
import sysconfig


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
        raise FileNotFoundError("runjob is not installed: pip install mirrorbeam, or put the program into a folder of PATH")
    return found
