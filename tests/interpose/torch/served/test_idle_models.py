# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which models count as idle, by calls that are noted as the hooks note them."""

import pytest
import torch
from memtrace._process.identity_map import IdentityMap
from memtrace._process.idle_models import IdleModels
from memtrace._process.module_roots import ModuleRoots


def model() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(2, 2))


class Program:
    """A policy that an optimizer steps, a frozen reference, and one that is only called without gradients."""

    def __init__(self) -> None:
        self.policy, self.frozen, self.plain = model(), model().requires_grad_(False), model()
        self.optimizer = torch.optim.SGD(self.policy.parameters(), lr=0.1)
        self.optimizers: IdentityMap[torch.optim.Optimizer, bool] = IdentityMap()
        self.idle = IdleModels(ModuleRoots(), self.optimizers)
        for each in (self.policy, self.frozen, self.plain):
            self.idle.know(each)
        self.optimizers.set(self.optimizer, True)

    def call(self, module: torch.nn.Module, *arguments: torch.Tensor, records: bool = False) -> None:
        self.idle.began(module, (arguments, {}), records)
        self.idle.ended(module)

    def found(self, is_generating: bool = False) -> list[str]:
        names = {id(self.policy): "policy", id(self.frozen): "frozen", id(self.plain): "plain"}
        return [names[id(one)] for one in self.idle.find(is_generating) if id(one) in names]


@pytest.fixture
def program() -> Program:
    return Program()


def test_models_that_nobody_trains_are_idle_and_the_latest_is_last(program: Program) -> None:
    assert sorted(program.found()) == ["frozen", "plain"]
    program.call(program.frozen)
    assert program.found() == ["plain", "frozen"]
    program.call(program.plain)
    assert program.found() == ["frozen", "plain"]


def test_without_an_optimizer_any_model_may_be_trained(program: Program) -> None:
    program.optimizers.pop(program.optimizer)
    assert program.found() == ["frozen"]


def test_a_model_is_not_idle_in_its_forward_or_that_of_its_whole(program: Program) -> None:
    whole = torch.nn.ModuleList([program.frozen])
    for running in (program.frozen, whole):
        program.idle.began(running, ((), {}), False)
        assert program.found() == ["plain"]
        program.idle.ended(running)
        assert "frozen" in program.found()


def test_between_calls_of_a_generation_the_latest_model_is_in_use(program: Program) -> None:
    program.call(program.plain)
    assert program.found(is_generating=True) == ["frozen"]


def test_a_backward_that_may_come_keeps_a_frozen_model(program: Program) -> None:
    program.call(program.frozen, torch.zeros(1, 2, requires_grad=True), records=True)
    assert program.found() == ["plain"]
    program.idle.graphs_are_gone()
    assert program.found() == ["plain", "frozen"]


def test_a_model_that_was_in_a_graph_is_trained_although_no_optimizer_has_it(program: Program) -> None:
    program.call(program.plain, records=True)
    program.idle.graphs_are_gone()
    assert program.found() == ["frozen"]
