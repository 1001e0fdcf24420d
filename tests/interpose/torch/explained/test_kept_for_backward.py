# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Tests memory that autograd keeps for a backward pass that never comes, and programs that only look like that."""

from pathlib import Path

from support.json_object import JsonObject
from support.programs import MIB, on_card

MODEL = """
import torch
from torch import nn
net = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))]).cuda()
x = torch.zeros(1024, 256, device="cuda")
kept = []
"""
ONE_GELU = 4 * MIB  # saved bytes: its input


def report(script: str, folder: Path, card: str = "4GiB", expect: int = 0) -> JsonObject:
    return on_card(MODEL + script, folder, card=card, expect=expect).report()


def by_role(found: JsonObject) -> dict[str, int]:
    return {row["name"]: row["bytes"] for row in found["peak"]["by_role"]}


def test_activations_without_a_backward_are_kept_in_vain(tmp_path: Path) -> None:
    found = report("for _ in range(5):\n    kept.append(net(x).mean(0).detach())\n", tmp_path)
    kept = found["kept_for_backward"]
    assert kept["forwards"] == 5 and kept["in_vain"] is True
    assert kept["bytes"] >= 4 * ONE_GELU
    assert by_role(found)["activation"] >= 4 * ONE_GELU
    assert by_role(found).get("temporary", 0) <= 2 * ONE_GELU


def test_no_grad_keeps_nothing(tmp_path: Path) -> None:
    script = "with torch.no_grad():\n    for _ in range(5):\n        kept.append(net(x).mean(0))\n"
    assert "kept_for_backward" not in report(script, tmp_path)


def test_training_keeps_nothing_in_vain(tmp_path: Path) -> None:
    assert "kept_for_backward" not in report("for _ in range(3):\n    net(x).sum().backward()\n", tmp_path)


def test_failed_first_forward_may_have_a_backward_to_come(tmp_path: Path) -> None:
    found = report("net(x.repeat(64, 1)).sum().backward()\n", tmp_path, card="1GiB", expect=1)
    assert found["kept_for_backward"]["forwards"] == 1
    assert found["kept_for_backward"]["in_vain"] is False


def test_failed_first_forward_without_any_backward_keeps_in_vain(tmp_path: Path) -> None:
    found = report("print(net(x.repeat(32, 1)).sum())\n", tmp_path, card="1GiB", expect=1)
    assert found["kept_for_backward"]["forwards"] == 1 and found["kept_for_backward"]["in_vain"] is True
    assert found["remedies"][0]["name"] == "no graph"
    report("with torch.no_grad():\n    print(net(x.repeat(32, 1)).sum())\n", tmp_path, card="1GiB")


def test_program_that_calls_autograd_grad_does_not_keep_in_vain(tmp_path: Path) -> None:
    script = "torch.autograd.grad(net(x.repeat(64, 1)).sum(), list(net.parameters()))\n"
    found = report(script, tmp_path, card="1GiB", expect=1)
    assert found["kept_for_backward"]["in_vain"] is False
    assert "no graph" not in [row["name"] for row in found["remedies"]]


def test_parts_of_a_sequential_are_distinguished(tmp_path: Path) -> None:
    found = report("for _ in range(3):\n    kept.append(net(x))\n", tmp_path)
    sites = {row["site"] for row in found["holdings"] if row["role"] == "activation"}
    assert {f"[{number}]" for number in range(12)} >= {site for site in sites if site.startswith("[")}
    assert "[3]" in sites and "*" not in sites
