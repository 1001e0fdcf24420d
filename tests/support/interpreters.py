# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The Pythons of this machine, for tests that depend on the version."""

import shutil
import subprocess
import sys
from pathlib import Path

MINORS = ["3.10", "3.11", "3.12", "3.13", "3.14"]


def interpreter(minor: str) -> str | None:
    """Returns a Python of that minor version: this one, one of pyenv's, or one on PATH."""
    if minor == f"3.{sys.version_info.minor}":
        return sys.executable
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python{minor}"))
    for candidate in [*map(str, pyenv), shutil.which(f"python{minor}")]:
        # pyenv's shims exist for versions that are not active, and then only fail.
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return candidate
    return None
