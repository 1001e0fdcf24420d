# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Describes the cards of this process as a specification of simulated ones (docs/design/simulated-card.md)."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from types import ModuleType

_MIB = 1 << 20
# Bytes assumed for a process's context, as on a simulated card. Memory of its libraries (cuBLAS: 65 MiB a thread on a
# Hopper card) counts as other processes', which makes the estimate conservative.
_CONTEXT = 500 * _MIB
_SECONDS = 120
_READ = "from memtrace._estimate.cards_here import print_cards; print_cards()"


@dataclass(frozen=True)
class Card:
    """A card as the driver reports it, in bytes; `capability` is a text such as "8.0"."""

    total: int
    free: int
    capability: str


def spec() -> str:
    """Describes this process's cards, and the memory that other processes hold on them now.

    Raises RuntimeError if it has none. CUDA is not initialised, because a process that has not used it may still fork.
    """
    import torch

    simulated = os.environ.get("MEMTRACE_CARD")
    if simulated:
        return simulated
    if torch.cuda.is_initialized():
        cards = [(card, torch.cuda.memory_reserved(index)) for index, card in enumerate(_cards(torch))]
    else:
        cards = [(card, 0) for card in _cards_from_child_process()]
    if not cards:
        raise RuntimeError(
            'memtrace.estimate: this process has no card. Name the card to estimate for, as in card="24GiB".'
        )
    return ";".join(_spec_of(card, reserved) for card, reserved in cards)


def _spec_of(card: Card, reserved: int) -> str:
    others = max(0, card.total - card.free - reserved - _CONTEXT)
    return f"{card.total // _MIB}MiB,other={others // _MIB}MiB,cc={card.capability}"


def _cards(torch: ModuleType) -> list[Card]:
    found = []
    for index in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(index)
        found.append(Card(total, free, "{}.{}".format(*torch.cuda.get_device_capability(index))))
    return found


def _cards_from_child_process() -> list[Card]:
    done = subprocess.run(
        [sys.executable, "-c", _READ],
        env={**os.environ, "MEMTRACE": "0"},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    return [Card(**card) for card in json.loads(lines[-1])] if done.returncode == 0 and lines else []


def print_cards() -> None:
    """Prints torch's view of the cards as JSON on stdout. Called in a process of its own."""
    import torch

    print(json.dumps([asdict(card) for card in _cards(torch)] if torch.cuda.is_available() else []))
