# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A small decoder, written so that each way of distributing a model finds the parts that it needs."""

import torch
from torch import nn

VOCABULARY = 1003  # no multiple of the number of ranks
WIDTH, HEADS, LAYERS, LENGTH = 256, 8, 4, 128


class Attention(nn.Module):
    """Causal attention. The heads are counted from the projections, which may be split over ranks."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        parts = (self.query(given), self.key(given), self.value(given))
        heads = [part.unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for part in parts]
        mixed = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """One layer of the decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        hidden = given + self.attention(self.before_attention(given))
        return hidden + self.down(nn.functional.gelu(self.up(self.before_mlp(hidden))))


class TinyGpt(nn.Module):
    """The decoder. A pipeline's stage has some of its layers, and maybe neither embedding nor head."""

    def __init__(self, layers: int = LAYERS, has_embedding: bool = True, has_head: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH) if has_embedding else None
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False) if has_head else None

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        hidden = self.embedding(given) if self.embedding is not None else given
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(hidden) if self.head is not None else hidden


def tokens(batch: int = 4, length: int = LENGTH) -> torch.Tensor:
    """Returns random tokens on the card, drawn on the host."""
    return torch.randint(0, VOCABULARY, (batch, length)).cuda()


def loss_of(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Returns the cross entropy of all tokens."""
    return nn.functional.cross_entropy(scores.flatten(0, 1).float(), labels.flatten())
