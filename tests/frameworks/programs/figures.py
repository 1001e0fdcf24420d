# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The figures that the programs of this folder print for their tests, and the small model that most of them train."""

import json
import os
import sys
from collections.abc import Iterable

import torch
from transformers import GPT2Config, GPT2LMHeadModel

VOCABULARY = 8192
LENGTH = 256


def small_gpt2() -> GPT2LMHeadModel:
    """Returns GPT-2 with random weights, so that nothing is fetched."""
    return GPT2LMHeadModel(
        GPT2Config(n_layer=4, n_embd=512, n_head=8, n_positions=LENGTH, vocab_size=VOCABULARY, use_cache=False)
    )


class Sentences(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Random tokens, like a tokenizer's for causal language modelling."""

    def __init__(self, count: int = 16, length: int = LENGTH) -> None:
        self._ids = torch.randint(0, VOCABULARY, (count, length), generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self._ids[index], "labels": self._ids[index]}


def on_card(tensors: Iterable[object]) -> int:
    """Returns the bytes of those tensors that are on a card."""
    return sum(t.nbytes for t in tensors if isinstance(t, torch.Tensor) and t.is_cuda)


def states(optimizer: torch.optim.Optimizer) -> int:
    """Returns the bytes of an optimizer's states that are on a card; parameters may share one."""
    found = [tensor for state in optimizer.state.values() for tensor in state.values() if torch.is_tensor(tensor)]
    return on_card({tensor.data_ptr(): tensor for tensor in found}.values())


def tell(**figures: int | str) -> None:
    """Prints torch's own statistics and `figures` as one JSON line. The program's variables stay alive."""
    torch.cuda.synchronize()
    own = torch.cuda.memory_stats()
    figures |= {
        "requested_peak": own["requested_bytes.all.peak"],
        "requested_now": own["requested_bytes.all.current"],
        "reserved_now": own["reserved_bytes.all.current"],
    }
    # One call writes it all: torchrun makes Python's output unbuffered, and the lines of two ranks would mix.
    sys.stdout.flush()
    os.write(1, f"{json.dumps(figures)}\n".encode())
