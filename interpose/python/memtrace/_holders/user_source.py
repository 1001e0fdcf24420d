# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reads in the user's files which functions lines call: an allocator sees only the line."""

import ast
import functools
import os
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType

from memtrace._core.vocabulary import (
    REQUEST_COMPUTES,
    SOURCE_CONCATENATES,
    SOURCE_HALVES,
    SOURCE_REPEATS_MASK,
    SOURCE_TRAINS,
)
from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._process.session import Session
from memtrace._program.user_modules import is_library, user_modules
from memtrace._program.users_frames import users_frames

_LARGEST_FILE = 1 << 19
_MOST_FILES = 100
_MOST_TREES = 32
_MOST_LINES_OF_A_CALL = 20
_MOST_PLACES = 400
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
# Names in programs that train or compute gradients.
_TRAINING = frozenset(
    {"backward", "optim", "fit", "train", "autograd", "grad", "grad_and_value", "vjp", "jacrev", "jacobian", "hessian"}
)


def users_files() -> list[str]:
    """Lists the user's files, up to a limit."""
    # At the end of the program Python has removed the file's name from __main__.
    files = [*sys.argv[:1], *(file for _, file in user_modules() if file)]
    paths = {os.path.abspath(path) for path in files}
    return [path for path in sorted(paths) if path.endswith(".py") and not is_library(path)][:_MOST_FILES]


@functools.lru_cache(maxsize=_MOST_TREES)
def tree_of(path: str) -> ast.Module | None:
    """Parses the file. Returns None if it cannot be read, such as that of a prompt, is cut off or is not Python."""
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's strings, of which Python has warned already
            return ast.parse(file.read(_LARGEST_FILE))
    except Exception as error:
        raise_if_from_outside(error)
        return None


def watch(_torch: ModuleType, session: Session) -> None:
    """Annotates the lines whenever everything is labelled, which is at an out-of-memory and at the end."""
    session.with_labels.append(_UserSource(session).annotate)


class _UserSource:
    """Reads the files of the program's modules outside of Python's own folders, each once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._found = _Found()
        self._looked_at: set[str] = set()
        self._has_read = False

    def annotate(self) -> None:
        """States the findings in all files read so far; nothing if no file could be read."""
        for path in users_files():
            if path not in self._looked_at:
                self._looked_at.add(path)
                self._read(path)
        if not self._has_read:
            return
        found, annotate = self._found, self._session.core.annotate
        for key, places in ((SOURCE_CONCATENATES, found.concatenates), (SOURCE_REPEATS_MASK, found.repeats_mask)):
            if places:
                annotate(key, " ".join(sorted(places)[:_MOST_PLACES]))
        annotate(SOURCE_TRAINS, str(int(found.trains)))
        annotate(SOURCE_HALVES, str(int(found.halves)))
        annotate(REQUEST_COMPUTES, self._computing_line())

    def _computing_line(self) -> str:
        """Returns the user's running line if it computes a value from others; else ""."""
        frame = next(iter(users_frames(sys._getframe())), None)
        place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}" if frame is not None else ""
        return place if place in self._found.computes else ""

    def _read(self, path: str) -> None:
        if (tree := tree_of(path)) is not None:
            self._has_read = True
            self._found.read(tree, os.path.basename(path))


class _Found:
    """Lines in the form of reports ("train.py:18"), by what they call."""

    def __init__(self) -> None:
        self.concatenates: set[str] = set()
        self.repeats_mask: set[str] = set()
        self.computes: set[str] = set()
        self.halves = False
        self.trains = False

    def read(self, tree: ast.AST, file: str) -> None:
        """Looks at each call in a file."""
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        takes_mask = any(_name(call) == "scaled_dot_product_attention" and _takes_mask(call) for call in calls)
        for call in calls:
            if _name(call) in ("cat", "concat"):
                self.concatenates.update(_places(call, file))
            if takes_mask and _repeats_new_axis(call):
                self.repeats_mask.update(_places(call, file))
            self.halves = self.halves or _name(call) in ("half", "bfloat16")
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
                self.computes.update(_places(node, file))
            self.trains = self.trains or _is_of_training(node)


def _name(call: ast.Call) -> str:
    """Returns the last part of the called name: "cat" for torch.cat(...)."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _takes_mask(call: ast.Call) -> bool:
    return len(call.args) > 3 or any(keyword.arg == "attn_mask" for keyword in call.keywords)


def _repeats_new_axis(call: ast.Call) -> bool:
    """True for `x[:, None].repeat(...)` or `x.unsqueeze(1).repeat(...)`, which copy an axis of size 1."""
    if _name(call) != "repeat" or not isinstance(call.func, ast.Attribute):
        return False
    of = call.func.value
    if isinstance(of, ast.Call):
        return _name(of) == "unsqueeze"
    if not isinstance(of, ast.Subscript):
        return False
    return any(isinstance(part, ast.Constant) and part.value is None for part in ast.walk(of.slice))


def _places(node: ast.expr, file: str) -> Iterator[str]:
    last = min(node.end_lineno or node.lineno, node.lineno + _MOST_LINES_OF_A_CALL)
    return (f"{file}:{line}" for line in range(node.lineno, last + 1))


def _is_of_training(node: ast.AST) -> bool:
    name = getattr(node, "attr", getattr(node, "id", ""))
    return isinstance(name, str) and (name in _TRAINING or name.endswith("Trainer"))
