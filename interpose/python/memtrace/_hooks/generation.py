# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Generation: transformers' `generate` is a phase, and caches, also those of servers, have the role kv_cache."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import GENERATE_BATCH, GENERATE_LAYERS, PHASE_GENERATE, ROLE_KV_CACHE
from memtrace._holders.named_values import attributes
from memtrace._hooks import stated_calls
from memtrace._hooks.stated_calls import Calls
from memtrace._patching import patches
from memtrace._patching.import_watch import when_imported
from memtrace._patching.quiet import quieter
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch.nn import Module

# Methods in which transformers.cache_utils.Cache allocates. None of them calls a model.
_MAKING = ("update", "update_conv_state", "update_recurrent_state", "early_initialization", "reorder_cache")

# Functions in which servers allocate their caches, all at once. vLLM's names are those of its versions 0 and 1.
_SERVERS: Calls = {
    "vllm.worker.cache_engine": ("CacheEngine._allocate_kv_cache",),
    "vllm.v1.worker.gpu_model_runner": ("GPUModelRunner._allocate_kv_cache_tensors",),
    "sglang.srt.mem_cache.memory_pool": ("MHATokenToKVPool._create_buffers", "MLATokenToKVPool._create_buffers"),
}


def watch(torch: ModuleType, session: Session) -> None:
    """Watches transformers, once it is imported."""
    when_imported("transformers.generation.utils", lambda module: _watch_generate(module, torch, session))
    when_imported("transformers.cache_utils", lambda module: _watch_caches(module, session))
    stated_calls.watch(session, ROLE_KV_CACHE, _SERVERS)


def _watch_generate(module: ModuleType, torch: ModuleType, session: Session) -> None:
    owner = getattr(module, "GenerationMixin", None)
    generate = getattr(owner, "generate", None)
    if generate is None:
        return
    is_compiling = torch.compiler.is_compiling
    state = quieter(torch)(_Prompts(torch, session).state)

    @functools.wraps(generate)
    def generate_in_phase(*args: object, **kwargs: object) -> object:
        if is_compiling():
            return generate(*args, **kwargs)
        with session.in_phase(PHASE_GENERATE):
            state(args, kwargs)
            return generate(*args, **kwargs)

    patches.put(
        owner,
        "generate",
        generate_in_phase,
        "transformers.GenerationMixin.generate: notes when text is generated and from how many prompts",
    )


class _Prompts:
    """States the prompts of a call of generate and the layers of its model.

    Each beam has a row of the model's input, so that there are more rows than prompts.
    """

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._stated: dict[str, str] = {}

    def state(self, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        """Reads the arguments of a call; without a tensor of several dimensions it has one prompt."""
        batches = (value for value in (*args[1:], *kwargs.values()) if isinstance(value, self._torch.Tensor))
        prompts = next((int(batch.shape[0]) for batch in batches if batch.dim() > 1), 1)
        for key, value in ((GENERATE_BATCH, str(prompts)), (GENERATE_LAYERS, str(_layers(args[0])))):
            if value != self._stated.get(key):
                self._stated[key] = value
                self._session.core.annotate(key, value)


def _layers(model: Module) -> int:
    """Returns the layers of the text part, each of which has a cache, from the config; 0 if that does not say."""
    config = attributes(model).get("config")
    for part in (attributes(config).get("text_config"), config):
        layers = attributes(part).get("num_hidden_layers")
        if type(layers) is int:
            return layers
    return 0


def _watch_caches(module: ModuleType, session: Session) -> None:
    cache = getattr(module, "Cache", None)
    for name in _MAKING:
        method = getattr(cache, name, None)
        if method is not None:
            stated = session.with_role(ROLE_KV_CACHE, method)
            patches.put(cache, name, stated, "transformers.Cache: labels what it makes as keys and values")
