# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Says which script this process runs, and which version of it: traces of one version can then be compared."""

import hashlib
import os
import sys
from importlib.machinery import PathFinder

from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._program.users_frames import names_are_recorded

_LARGEST_FILE = 1 << 22
_DIGITS = 16


def script_facts() -> dict[str, str]:
    """Returns the facts `script` and, if its file can be read, `script_version`: a hash of the file's contents."""
    name = sys.argv[0] if getattr(sys, "argv", None) else ""
    if name == "-m":
        file = name = _module_file() or name
    else:
        file = getattr(sys.modules.get("__main__"), "__file__", None) or name
    facts = {"script": os.path.basename(name)}
    if names_are_recorded() and (version := _version(file)):
        facts["script_version"] = version
    return facts


def _version(file: str) -> str:
    try:
        with open(file, "rb") as opened:
            contents = opened.read(_LARGEST_FILE)
    except OSError as error:  # there is none, as with "-c", or the program has changed its folder
        raise_if_from_outside(error)
        return ""
    return hashlib.sha256(contents).hexdigest()[:_DIGITS]


def _module_file() -> str:
    """Finds the file of `python -m NAME` while Python still imports the packages around it; "" if there is none.

    Imports nothing: the package may be the one that is importing torch.
    """
    words = sys.orig_argv
    name = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
    try:
        return _file_of(name)
    except Exception as error:  # a finder of somebody else's
        raise_if_from_outside(error)
        return ""


def _file_of(module: str) -> str:
    folders: list[str] | None = None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:end]), folders)
        if spec is None:
            return ""
        folders = list(spec.submodule_search_locations) if spec.submodule_search_locations is not None else []
    if folders:  # a package runs its __main__
        spec = PathFinder.find_spec(f"{module}.__main__", folders)
    return spec.origin or "" if spec is not None else ""
