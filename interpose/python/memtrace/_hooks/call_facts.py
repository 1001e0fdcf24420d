# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Facts about calls of outermost modules that remedies depend on: autocast, the batch, checkpointing in eval mode."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from memtrace._core.vocabulary import (
    CHECKPOINT_IN_EVAL,
    CHECKPOINT_LAYERS_IN_EVAL,
    CHECKPOINT_WHOLE_MODEL,
    FORWARD_AUTOCAST,
    FORWARD_AUTOCAST_CACHE,
    FORWARD_BATCH,
    FORWARD_SEQUENCE,
    FORWARD_VOCABULARY,
)
from memtrace._holders.named_values import attributes
from memtrace._process.identity_map import IdentityMap
from memtrace._process.session import Session

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

_LAYERS = 8  # of a model's checkpointed layers; the model itself may be none of them
_WRAPPERS = 4  # modules that may wrap a model: those of DDP, torch.compile, peft


class CallFacts:
    """Writes facts of `forward.` and `checkpoint.` (profiler/trace/format.md) when they change."""

    def __init__(self, torch: ModuleType, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._written: dict[str, str] = {}
        self._vocabularies: IdentityMap[Module, int] = IdentityMap()  # by model
        self._layers: IdentityMap[Module, list[weakref.ref[Module]]] = IdentityMap()  # some that may be checkpointed

    def see(self, module: Module, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        """Looks at a call of `module` with these arguments."""
        torch = self._torch
        casts = torch.is_autocast_enabled()
        self._write(FORWARD_AUTOCAST, str(int(casts)))
        self._write_if_known(FORWARD_AUTOCAST_CACHE, int(casts and torch.is_autocast_cache_enabled()))
        tensor = self._first_batch(args, kwargs)
        if tensor is not None:
            examples = 1 if self._is_of_one_graph(tensor, args, kwargs) else int(tensor.shape[0])
            self._write(FORWARD_BATCH, str(examples))
            self._write_if_known(FORWARD_SEQUENCE, self._sequence(tensor))
            self._write_if_known(FORWARD_VOCABULARY, self._vocabulary(module))
        in_eval = self._layers_in_eval(module)
        self._write_if_known(CHECKPOINT_LAYERS_IN_EVAL, int(bool(in_eval)))
        self._write_if_known(CHECKPOINT_IN_EVAL, int(any(layer.gradient_checkpointing is True for layer in in_eval)))

    def recomputed_whole(self, module: Module) -> None:
        """Notes that backward recomputes all of this model at once, because a checkpoint wraps the whole of it."""
        self._write(CHECKPOINT_WHOLE_MODEL, type(module).__name__)

    def _first_batch(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Tensor | None:
        """Returns the first tensor with at least two dimensions; None if there is none."""
        for value in (*args, *kwargs.values()):
            if isinstance(value, self._torch.Tensor) and value.dim() > 1:
                return value
        return None

    def _is_of_one_graph(self, tensor: Tensor, args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
        """True if the rows are the nodes of a graph, so that half of them would be another graph.

        Such rows come with a matrix that has a row and a column for each, or with the edges as two rows of node
        numbers.
        """
        if not tensor.is_floating_point() or tensor.dim() != 2:
            return False
        nodes = tensor.shape[0]
        return any(
            isinstance(value, self._torch.Tensor)
            and value is not tensor
            and value.dim() == 2
            and (tuple(value.shape) == (nodes, nodes) or (value.shape[0] == 2 and value.dtype == self._torch.int64))
            for value in (*args, *kwargs.values())
        )

    def _sequence(self, tensor: Tensor) -> int:
        """Returns the length of the sequence in a batch of token ids or embeddings; 0 if it is neither."""
        is_words = tensor.dim() == 2 and not tensor.is_floating_point()
        is_vectors = tensor.dim() == 3 and tensor.is_floating_point()
        return int(tensor.shape[1]) if is_words or is_vectors else 0

    def _vocabulary(self, module: Module) -> int:
        """Returns the vocabulary size of a language model, from its config or that of a model in it; else 0."""
        known = self._vocabularies.get(module)
        if known is None:
            configs = (attributes(part).get("config") for part in itertools.islice(module.modules(), _WRAPPERS))
            sizes = (size for config in configs if config is not None for size in _vocabulary_sizes(config))
            known = next(sizes, 0)
            self._vocabularies.set(module, known)
        return known

    def _layers_in_eval(self, module: Module) -> list[Module]:
        """Lists layers that support transformers' checkpointing but are in eval mode, where it does nothing."""
        if not self._torch.is_grad_enabled():
            return []
        known = self._layers.get(module)
        if known is None:
            layers = (part for part in module.modules() if hasattr(part, "gradient_checkpointing"))
            known = [weakref.ref(layer) for layer in itertools.islice(layers, _LAYERS)]
            self._layers.set(module, known)
        alive = [layer for reference in known if (layer := reference()) is not None]
        return [layer for layer in alive if not layer.training]

    def _write_if_known(self, key: str, value: int) -> None:
        """Writes the number; leaves out a first 0, which means unknown."""
        if value or key in self._written:
            self._write(key, str(value))

    def _write(self, key: str, value: str) -> None:
        if self._written.get(key) != value:
            self._written[key] = value
            self._session.core.annotate(key, value)


def _vocabulary_sizes(config: object) -> Iterator[int]:
    """Yields the config's own size, and that of its text part for a model of language and images."""
    for part in (config, attributes(config).get("text_config")):
        size = attributes(part).get("vocab_size")
        if type(size) is int:
            yield size
