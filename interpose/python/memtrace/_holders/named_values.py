# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Values that the program's variables lead to, starting from modules and running functions."""

import os
import sys
import time
import types
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from memtrace._patching.signal_exceptions import raise_if_from_outside
from memtrace._program.user_modules import PACKAGE, is_library, user_modules

K = TypeVar("K")

_DEEPEST = 4  # the most attributes and elements after a variable
_MOST_PARTS = 200  # of one container or object
_MOST_VALUES = 50_000
_MOST_FRAMES = 60
_LONGEST_KEY = 40  # of a key in a name; longer ones are the program's data
_IS_FUNCTION = 1  # inspect.CO_OPTIMIZED: not the code of a module or a class
SEQUENCES = (list, tuple, set, frozenset, deque)
_LEAVES = (str, bytes, int, float, type(None), types.ModuleType, types.CodeType, types.BuiltinFunctionType)


@dataclass(frozen=True)
class Named:
    """A value, the expression that leads to it ("self.seen"), and where that can be written ("encode, train.py")."""

    value: Any  # any object; its exact class is checked before it is used
    name: str
    place: str


def is_a(value: object, kinds: type[K] | tuple[type[K], ...]) -> TypeGuard[K]:
    """True if `value` is one of these. isinstance would load the object behind a proxy."""
    return issubclass(type(value), kinds)


def attributes(value: object) -> dict[str, Any]:  # any objects of the program
    """Returns the attributes of the object itself, without running code of its class."""
    if not type(value).__dictoffset__:  # it has none
        return {}
    try:
        found = object.__getattribute__(value, "__dict__")
    except Exception as error:  # its class defines something else by that name
        raise_if_from_outside(error)
        return {}
    return dict(found) if is_a(found, (dict, types.MappingProxyType)) else {}


def named_values(torch: types.ModuleType, seconds: float) -> Iterator[Named]:
    """Yields each value once, the shortest paths first; stops after that time. Runs no code of the program."""
    end = time.monotonic() + seconds
    known: set[int] = set()
    waiting = deque((named, 0) for named in variables())
    while waiting and time.monotonic() < end and len(known) < _MOST_VALUES:
        named, depth = waiting.popleft()
        if id(named.value) in known or is_a(named.value, _LEAVES):
            continue
        known.add(id(named.value))
        yield named
        if depth < _DEEPEST and not is_a(named.value, torch.Tensor):
            waiting.extend((part, depth + 1) for part in parts_of(named, torch.nn.Module))


def variables() -> Iterator[Named]:
    """Yields variables of the user's modules, then of the user's running functions, then of libraries' functions."""
    yield from _globals()
    functions = list(running_functions())
    for is_of_library in (False, True):
        for frame in functions:
            if is_library(frame.f_code.co_filename) == is_of_library:
                place = f"{frame.f_code.co_name}, {os.path.basename(frame.f_code.co_filename)}"
                for variable, value in local_values(frame):
                    yield Named(value, variable, place)


def _globals() -> Iterator[Named]:
    for module, file in user_modules():
        place = os.path.basename(file) if file else "__main__"
        for variable, value in attributes(module).items():
            if not variable.startswith("__"):
                yield Named(value, variable, place)


def running_functions() -> Iterator[types.FrameType]:
    """Yields frames of functions, first this thread's. Autograd's threads have none; another thread waits for them."""
    innermost: list[types.FrameType | None] = [sys._getframe(), *sys._current_frames().values()]
    count = 0
    for frame in innermost:
        while frame is not None and count < _MOST_FRAMES:
            if frame.f_code.co_flags & _IS_FUNCTION and not frame.f_code.co_filename.startswith(PACKAGE):
                count += 1
                yield frame
            frame = frame.f_back


def local_values(frame: types.FrameType) -> list[tuple[str, object]]:
    """Lists the variables. Leaves no copy in the frame, which before Python 3.13 would keep their values alive."""
    if sys.gettrace() is not None:  # a debugger uses that copy
        return []
    variables = frame.f_locals
    found = list(variables.items())
    # The frame, this function and the call refer to it; any other reference is the program's own locals().
    if type(variables) is dict and sys.getrefcount(variables) <= 3:
        variables.clear()
    return found


def parts_of(named: Named, module_class: type) -> Iterator[Named]:
    """Yields the parts of an object by name; none if it has too many elements or attributes."""
    value, name, place = named.value, named.name, named.place
    if is_a(value, types.FunctionType):
        yield from _closure(value)
    elif is_a(value, types.MethodType):
        yield Named(value.__self__, name, place)
    elif is_a(value, dict):
        for key, part in _parts_if_few(dict.items(value)):
            is_short = type(key) is int or (type(key) is str and len(key) <= _LONGEST_KEY)
            yield Named(part, f"{name}[{key!r}]" if is_short else f"{name}[...]", place)
    elif type(value) in SEQUENCES:
        for number, part in enumerate(_parts_if_few(value)):
            yield Named(part, f"{name}[{number}]", place)
    else:
        own = attributes(value)
        if is_a(value, module_class):
            own = {key: part for key, part in own.items() if not key.startswith("_")} | dict(own.get("_modules", {}))
        for key, part in _parts_if_few(own.items()):
            yield Named(part, f"{name}.{key}", place)


def _closure(function: types.FunctionType) -> Iterator[Named]:
    code = function.__code__
    if is_library(code.co_filename):
        return
    place = f"{function.__name__}, {os.path.basename(code.co_filename)}"
    for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield Named(cell.cell_contents, variable, place)
        except ValueError as error:  # not yet bound
            raise_if_from_outside(error)


def _parts_if_few(parts: Collection[K]) -> list[K]:
    """Lists the parts if they are few; of many, only the container itself is stated."""
    return list(parts) if len(parts) <= _MOST_PARTS else []
