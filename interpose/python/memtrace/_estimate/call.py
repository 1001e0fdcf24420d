# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The information from which a transformers model's inputs are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtrace._estimate.options import Options

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from transformers import PretrainedConfig, PreTrainedModel

_DEFAULT_SEQ = 512
_LIMITS = ("max_position_embeddings", "n_positions", "max_target_positions", "seq_length")
# Tables of learned positions, by the last part of their paths.
_TABLES = ("wpe", "position_embeddings", "embed_positions", "position_embedding")


@dataclass(frozen=True)
class Call:
    """The information from which one model's inputs are made."""

    model: PreTrainedModel
    options: Options
    names: tuple[str, ...]  # the arguments of its forward
    dtype: torch.dtype  # of floating-point inputs

    @property
    def config(self) -> PretrainedConfig:
        """The whole model's config."""
        return self.model.config

    @property
    def text(self) -> PretrainedConfig:
        """The config of the part that reads or writes text; the whole one if there is no other."""
        return self.config.get_text_config(decoder=self.config.is_encoder_decoder)

    @property
    def seq(self) -> int:
        """The sequence length in tokens."""
        limits = [limit for name in _LIMITS if isinstance(limit := getattr(self.text, name, None), int) and limit > 0]
        return self.options.seq or min([_DEFAULT_SEQ, *limits, *self.position_tables().values()])

    def position_tables(self) -> dict[str, int]:
        """Returns the number of learned positions of text, by the path of their table."""
        import torch

        return {
            path: module.num_embeddings
            for path, module in self.model.named_modules()
            if path.rpartition(".")[2] in _TABLES and "vision" not in path and isinstance(module, torch.nn.Embedding)
        }


def filled(call: Call, name: str, shape: tuple[int, ...]) -> Tensor:
    """Makes an input from its name and shape: ids are tokens, masks are 1, the rest is noise."""
    import torch

    if name.endswith(("ids", "labels")):
        return torch.full(shape, 0 if name.endswith("type_ids") else 1)
    if name.endswith("mask"):
        return torch.ones(shape, dtype=torch.long)
    return torch.randn(shape, dtype=call.dtype, device="cuda")
