# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A length for transformers' `generate` on a simulated card, where no token has a meaning that could end it."""

import functools
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_MODULE = "transformers.generation.utils"


def watch(length: str) -> None:
    """Has every `generate` make `length` tokens, once transformers is imported; "" leaves it as it is."""
    if not length:
        return
    if not length.isdecimal() or int(length) < 1:
        raise ValueError(f"MEMTRACE_GENERATE_LENGTH is a number of tokens, 1 or more, not {length!r}")
    module = sys.modules.get(_MODULE)
    if module is not None:
        _set_length(module, int(length))
    else:
        sys.meta_path.insert(0, _Finder(int(length)))


def _set_length(module: ModuleType, length: int) -> None:
    generate = module.GenerationMixin.generate

    @functools.wraps(generate)
    def generate_length(model: Any, *args: Any, **kwargs: Any) -> Any:
        # No token is -1, so none ends the text; None would be replaced by the model's own.
        kwargs.update(max_new_tokens=length, eos_token_id=-1)
        kwargs.pop("max_length", None)
        return generate(model, *args, **kwargs)

    module.GenerationMixin.generate = generate_length


class _Finder:
    """Finds the module as Python would and changes it right after it was executed."""

    def __init__(self, length: int) -> None:
        self._length = length

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec: ModuleSpec | None = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                self._follow(spec)
                return spec
        return None

    def _follow(self, spec: ModuleSpec) -> None:
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def execute_and_set(module: ModuleType) -> None:
            execute(module)
            _set_length(module, self._length)

        spec.loader.exec_module = execute_and_set  # type: ignore[method-assign]
