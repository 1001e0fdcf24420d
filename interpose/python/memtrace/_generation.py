# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Generation: transformers' `generate` is a phase, and what caches hold is kv_cache, also those of servers."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from memtrace import _stated_calls
from memtrace._core import PHASE_GENERATE, ROLE_KV_CACHE
from memtrace._import_watch import when_imported
from memtrace._session import Session
from memtrace._stated_calls import Calls

# Where transformers.cache_utils.Cache makes what it keeps. None calls a model.
_MAKING = ("update", "update_conv_state", "update_recurrent_state", "early_initialization", "reorder_cache")

# Where servers make theirs, all at once. vLLM's names are those of its versions 0 and 1.
_SERVERS: Calls = {
    "vllm.worker.cache_engine": ("CacheEngine._allocate_kv_cache",),
    "vllm.v1.worker.gpu_model_runner": ("GPUModelRunner._allocate_kv_cache_tensors",),
    "sglang.srt.mem_cache.memory_pool": ("MHATokenToKVPool._create_buffers", "MLATokenToKVPool._create_buffers"),
}


def watch(torch: ModuleType, session: Session) -> None:
    """Watches transformers, once it is imported."""
    is_compiling = torch.compiler.is_compiling
    when_imported("transformers.generation.utils", lambda module: _watch_generate(module, session, is_compiling))
    when_imported("transformers.cache_utils", lambda module: _watch_caches(module, session))
    _stated_calls.watch(session, ROLE_KV_CACHE, _SERVERS)


def _watch_generate(module: ModuleType, session: Session, is_compiling: Callable[[], bool]) -> None:
    owner = getattr(module, "GenerationMixin", None)
    generate = getattr(owner, "generate", None)
    if generate is None:
        return

    @functools.wraps(generate)
    def generate_in_phase(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return generate(*args, **kwargs)
        with session.in_phase(PHASE_GENERATE):
            return generate(*args, **kwargs)

    owner.generate = generate_in_phase  # type: ignore[union-attr]


def _watch_caches(module: ModuleType, session: Session) -> None:
    cache = getattr(module, "Cache", None)
    for name in _MAKING:
        method = getattr(cache, name, None)
        if method is not None:
            setattr(cache, name, session.stating(ROLE_KV_CACHE, method))
