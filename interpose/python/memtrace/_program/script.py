# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Says which script this process runs, and which version of it: traces of one version can then be compared."""

import hashlib
import os
import re
import sys
from importlib.machinery import PathFinder

from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._program.users_frames import names_are_recorded

_LARGEST_FILE = 1 << 22
_DIGITS = 16
# Whole lines by which a person adds memtrace.apply to a script.
_OURS = re.compile(rb"^(?:import memtrace|memtrace\.apply\(.*\))[ \t]*(?:#.*)?\r?\n", re.MULTILINE)
_OURS_AND_BLANKS = re.compile(_OURS.pattern + rb"(?:[ \t]*\r?\n)*", re.MULTILINE)


def script_facts() -> dict[str, str]:
    """Returns the facts `script` and, if its file can be read, `script_version`: a hash of the file's contents."""
    name, file = _script()
    facts = {"script": os.path.basename(name)}
    if names_are_recorded() and (version := _version(file)):
        facts["script_version"] = version
    return facts


def _script() -> tuple[str, str]:
    """Returns the script as the command names it, and its file."""
    name = sys.argv[0] if getattr(sys, "argv", None) else ""
    if name == "-m":
        name = _module_file() or name
        return name, name
    return name, getattr(sys.modules.get("__main__"), "__file__", None) or name


def is_script_of(version: str) -> bool:
    """True if this script had that version before the lines were added that apply the changes; also if none is known.

    Blank lines after these lines do not count either.
    """
    contents = _contents(_script()[1]) if names_are_recorded() else b""
    variants = (contents, _OURS.sub(b"", contents), _OURS_AND_BLANKS.sub(b"", contents))
    return not contents or version in (_hash(variant) for variant in variants)


def _version(file: str) -> str:
    contents = _contents(file)
    return _hash(contents) if contents else ""


def _contents(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read(_LARGEST_FILE)
    except OSError as error:  # there is none, as with "-c", or the program has changed its folder
        raise_if_from_outside(error)
        return b""


def _hash(contents: bytes) -> str:
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
