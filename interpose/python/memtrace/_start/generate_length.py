# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sets a length for transformers' `generate` on a simulated card, where no token's value could end the text."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported

if TYPE_CHECKING:
    from torch.nn import Module

_MODULE = "transformers.generation.utils"


def watch(length: str) -> None:
    """Makes every `generate` return `length` tokens, once transformers is imported; "" changes nothing."""
    if not length:
        return
    if not length.isdecimal() or int(length) < 1:
        raise ValueError(f"MEMTRACE_GENERATE_LENGTH must be a number of tokens, 1 or more, not {length!r}.")
    when_imported(_MODULE, lambda module: _set_length(module, int(length)))


def _set_length(module: ModuleType, length: int) -> None:
    generate = module.GenerationMixin.generate

    @functools.wraps(generate)
    def generate_length(model: Module, *args: object, **kwargs: object) -> object:
        # No token is -1, so none ends the text; None would be replaced by the model's own.
        kwargs.update(max_new_tokens=length, eos_token_id=-1)
        kwargs.pop("max_length", None)
        return generate(model, *args, **kwargs)

    patches.put(
        module.GenerationMixin,
        "generate",
        generate_length,
        "transformers.GenerationMixin.generate: generates as many tokens as --generate-length says",
    )
