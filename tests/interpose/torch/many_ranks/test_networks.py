# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tests what ranks send and what NCCL takes for a network (docs/design/collectives.md, nccl-memory.md)."""

import json
from pathlib import Path

import pytest
from support.events import annotations
from support.jobs import by_rank, run_job
from support.programs import MIB, memtrace

HERE = Path(__file__).parent
OWN = 4096  # bytes that a rank gives


def ring(sent: int, world: int, here: int) -> list[int]:
    """Returns what a rank sends within its machine of `here` ranks and over the network, if it sends `sent`."""
    network = sent // here if here < world else 0
    return [sent - network, network, 0]


def expected(world: int, here: int) -> dict[str, list[int]]:
    return {
        "all_reduce": ring(2 * (world - 1) * OWN // world, world, here),
        "all_gather": ring((world - 1) * OWN, world, here),
        "reduce_scatter": ring((world - 1) * OWN, world, here),
    }


def check(rank: dict, world: int, here: int) -> None:
    sent = rank["sent"]
    assert {name: sent[name] for name in expected(world, here)} == expected(world, here)
    # torch has used one call of NCCL for this, or a send to each other rank.
    assert sent["all_to_all"][:2] == [(here - 1) * OWN, (world - here) * OWN]
    assert sent["all_to_all"][2] in (0, world - 1)


def test_two_real_ranks_send_what_rings_and_pairs_send(tmp_path):
    ranks = by_rank(run_job(HERE / "sent_bytes.py", tmp_path, world=2, ranks="0-1", cards=2))
    assert set(ranks) == {0, 1}
    for rank in ranks.values():
        check(rank, 2, 2)
    assert ranks[0]["sent"]["broadcast"] == [OWN, 0, 0]
    assert ranks[1]["sent"]["broadcast"] == [0, 0, 0]
    assert ranks[0]["sent"]["send"] == [2 * OWN, 0, 2]
    assert ranks[1]["sent"]["send"] == [0, 0, 0]


# All 4 ranks of the first job are real and tell each other where they are. 4 of 16 are real in the second.
@pytest.mark.parametrize(("world", "cards", "real"), [(4, 2, "0-3"), (16, 8, "0,1,9,15")])
def test_ranks_of_two_machines_send_a_share_over_the_network(tmp_path, world, cards, real):
    ranks = by_rank(run_job(HERE / "sent_bytes.py", tmp_path, world=world, ranks=real, cards=cards))
    assert len(ranks) == 4
    for rank in ranks.values():
        check(rank, world, cards)
    assert ranks[0]["sent"]["broadcast"] == ring(OWN, world, cards)
    assert ranks[world - 1]["sent"]["broadcast"] == [0, 0, 0]
    assert ranks[0]["sent"]["send"] == [OWN, OWN, 2]
    for end in (0, world - 1):
        assert ranks[end]["sent"]["all_reduce_of_ends"] == [0, OWN, 0]
    told = annotations(tmp_path / "run.rank-0.trace")
    assert int(told["simulation.sent_bytes_network"]) >= sum(sent[1] for sent in ranks[0]["sent"].values())
    assert int(told["simulation.sends"]) >= 2


def test_pair_with_a_virtual_rank_knows_its_machine(tmp_path):
    ranks = by_rank(run_job(HERE / "sent_bytes.py", tmp_path, world=16, ranks="0", cards=8))
    assert ranks[0]["sent"]["send"] == [OWN, OWN, 2]


# H100 with NCCL 2.28.9, two machines of 8 cards: 16 channels, of which a ring uses the network in two on each card, to
# send and to receive; for a large sum the switch, with a tree over the machines in each of its 16 channels.
START = 2 * (2 + 3 * 16 + 16 + 1)
RING = 14 * 12 + 2 * 20
TREE = 16 * 10 + 2 * 20
SWITCH = 2 * 16 * 8 + 16 * 20
HOST = (1 << 20) + (128 << 10) + (2 + 16) * (524288 + 4 * 4096)  # bytes


def test_network_takes_memory_of_the_card_and_of_the_host(tmp_path):
    run_job(HERE / "summed.py", tmp_path, world=16, ranks="0,8", cards=8)
    trace = str(tmp_path / "run.rank-0.trace")
    (nccl,) = json.loads(memtrace("report", "--json", trace).out)["simulated"]["nccl"]
    assert nccl["bytes"] == (START + RING + SWITCH) * MIB
    assert nccl["least"] == (START + RING) * MIB
    assert nccl["most"] == (START + RING + SWITCH + TREE) * MIB
    assert nccl["host_bytes"] == HOST
    words = " ".join(memtrace("report", "--verbose", trace).out.split())
    assert "It also pins up to 10.4 MiB of the host's memory." in words
