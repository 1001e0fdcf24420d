# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions and classes that another process cannot import: of a script, of a notebook's cell, local ones, lambdas.

Each is pickled as a reduction (the `pickle` module's word for "call this with that, then set this state"): first an
empty object, then the objects that it refers to, so that a method may refer to its class. Code is written by `marshal`,
because the same interpreter reads it.
"""

import builtins
import copyreg
import dataclasses
import dis
import functools
import importlib
import marshal
import sys
import types
from collections.abc import Iterator
from typing import TypedDict

# Names that the class statement makes anew, or that are useless in the other process.
_MADE_ANEW = {"__dict__", "__weakref__", "__module__", "__annotations__", "__annotate_func__", "__annotations_cache__"}
_MADE_ANEW |= {"_abc_impl", "_backward_cls", "__slots__"}
# Objects of `dataclasses` that are compared by identity.
_SINGLETONS = ("MISSING", "KW_ONLY", "_FIELD", "_FIELD_CLASSVAR", "_FIELD_INITVAR")

# In the reading process: the globals of each module that it cannot import.
_namespaces: dict[str, dict[str, object]] = {}


Reduction = tuple[object, ...]  # or NotImplemented


class FunctionState(TypedDict):
    """The objects that a function refers to."""

    globals: dict[str, object]
    cells: list[tuple[object, ...]]  # each is empty or has one value
    defaults: tuple[object, ...] | None
    keywords: dict[str, object] | None
    attributes: dict[str, object]


def reduction(value: object) -> Reduction:
    """Returns the reduction of `value`, or NotImplemented if pickle handles it."""
    if isinstance(value, types.FunctionType):
        return NotImplemented if is_importable(value) else _of_function(value)
    if isinstance(value, type):
        return NotImplemented if is_importable(value) else _of_class(value)
    if isinstance(value, types.ModuleType):
        return importlib.import_module, (value.__name__,)
    if isinstance(value, types.MethodType):
        return types.MethodType, (value.__func__, value.__self__)
    if isinstance(value, types.MappingProxyType):
        return types.MappingProxyType, (dict(value),)
    if type(value).__qualname__ == "ConvertOutputsToFp32":  # accelerate's, around a forward; it refuses to be pickled
        return copyreg.__newobj__, (type(value),), vars(value)  # type: ignore[attr-defined]
    return _of_attribute(value)


def is_importable(value: object) -> bool:
    """True if another process finds this very object under its name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if module is None or module == "__main__" or "<" in name:
        return False
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def _of_attribute(value: object) -> Reduction:
    """Returns the reduction of a class attribute that is not a function."""
    if isinstance(value, (staticmethod, classmethod)):
        return type(value), (value.__func__,)
    if isinstance(value, property):
        return property, (value.fget, value.fset, value.fdel, value.__doc__)
    if isinstance(value, functools.cached_property):
        return functools.cached_property, (value.func,)
    for name in _SINGLETONS:
        if value is getattr(dataclasses, name, dataclasses):
            return getattr, (dataclasses, name)
    return NotImplemented  # type: ignore[no-any-return]


def _of_function(function: types.FunctionType) -> Reduction:
    module = function.__globals__.get("__name__", "")
    names = {} if _is_shared(function) else dict(_globals(function))
    cells = [_content(cell) for cell in function.__closure__ or ()]
    state: FunctionState = {
        "globals": names,
        "cells": cells,
        "defaults": function.__defaults__,
        "keywords": function.__kwdefaults__,
        "attributes": dict(function.__dict__),
    }
    words = (marshal.dumps(function.__code__), module, _is_shared(function), len(cells))
    called = (function.__name__, function.__qualname__, function.__module__)
    return make_function, (*words, called), state, None, None, fill_function


def _is_shared(function: types.FunctionType) -> bool:
    """True if its globals are those of a module that the other process imports."""
    name = function.__globals__.get("__name__", "")
    return name != "__main__" and getattr(sys.modules.get(name), "__dict__", None) is function.__globals__


def _globals(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _names(code: types.CodeType) -> set[str]:
    found = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*[_names(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)])


def _content(cell: types.CellType) -> tuple[object, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # not filled yet
        return ()


def make_function(
    code: bytes, module: str, is_shared: bool, cells: int, called: tuple[str, str, str]
) -> types.FunctionType:
    """Makes a function with only its code and its names."""
    if is_shared:
        names = vars(importlib.import_module(module))
    else:
        names = _namespaces.setdefault(module, {"__name__": module, "__builtins__": builtins})
    closure = tuple(types.CellType() for _ in range(cells))
    function = types.FunctionType(marshal.loads(code), names, closure=closure)
    function.__name__, function.__qualname__, function.__module__ = called
    return function


def fill_function(function: types.FunctionType, state: FunctionState) -> None:
    """Adds the objects that it refers to."""
    function.__globals__.update(state["globals"])
    for cell, content in zip(function.__closure__ or (), state["cells"], strict=True):
        if content:
            cell.cell_contents = content[0]
    function.__defaults__, function.__kwdefaults__ = state["defaults"], state["keywords"]
    function.__dict__.update(state["attributes"])


def _of_class(kind: type) -> Reduction:
    for name, known in vars(types).items():  # types of the interpreter cannot be imported by name
        if known is kind:
            return getattr, (types, name)
    attributes = {
        name: value
        for name, value in vars(kind).items()
        if name not in _MADE_ANEW and not isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))
    }
    slots = vars(kind).get("__slots__")
    called = (kind.__name__, kind.__qualname__, kind.__module__)
    return make_class, (type(kind), kind.__bases__, slots, called), attributes, None, None, fill_class


def make_class(metaclass: type, bases: tuple[type, ...], slots: object, called: tuple[str, str, str]) -> type:
    """Makes a class without attributes."""

    def fill(names: dict[str, object]) -> None:
        names["__qualname__"], names["__module__"] = called[1:]
        if slots is not None:
            names["__slots__"] = slots

    return types.new_class(called[0], bases, {"metaclass": metaclass}, fill)


def fill_class(kind: type, attributes: dict[str, object]) -> None:
    """Adds the attributes that its body defined."""
    for name, value in attributes.items():
        setattr(kind, name, value)
        if isinstance(value, functools.cached_property):
            value.__set_name__(kind, name)
