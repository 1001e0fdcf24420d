# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds loops in a program's source that add up losses whose backward comes after them."""

import ast

import pytest
from memtrace._holders.accumulating_loops import AccumulatingLoop, loop_at


def found(source: str) -> set[AccumulatingLoop]:
    """Returns the loops that any line of the source belongs to."""
    tree = ast.parse(source)
    loops = (loop_at(tree, line) for line in range(1, len(source.splitlines()) + 1))
    return {loop for loop in loops if loop}


ADDING = {
    "a sum": """\
for batch in data:
    loss = 0
    for view in batch:
        loss = loss + net(view).mean()
    loss.backward()""",
    "in place": """\
for batch in data:
    loss = 0
    for view in batch:
        loss += net(view) / 4
    (loss / 2).backward()""",
    "a method": """\
def step(self, batch):
    loss = 0
    for view in batch:
        loss += self.net(view)
    self.manual_backward(loss)""",
    "of a library": """\
for batch in data:
    loss, n = 0, 0
    for view in batch:
        loss += net(view).loss; n += 1
    accelerator.backward(loss)""",
}


@pytest.mark.parametrize("name", ADDING)
def test_accumulating_loop_is_found_with_its_backward(name: str) -> None:
    assert found(ADDING[name]) == {AccumulatingLoop("loss", 3, 5)}


def test_list_of_losses_is_found_as_the_accumulator() -> None:
    source = (
        "losses = []\n"
        "for x in xs:\n"
        "    losses.append(net(x).mean())\n"
        "total = torch.stack(losses).sum()\n"
        "total.backward()"
    )
    assert found(source) == {AccumulatingLoop("losses", 2, 5)}


def test_inner_steps_belong_to_their_outer_loop() -> None:
    source = (
        "total = 0\n"
        "for task in tasks:\n"
        "    weights = dict(net.named_parameters())\n"
        "    for _ in range(5):\n"
        "        slopes = torch.autograd.grad(loss_of(weights, task), weights.values(), create_graph=True)\n"
        "        weights = {name: w - g for (name, w), g in zip(weights.items(), slopes)}\n"
        "    total = total + loss_of(weights, task)\n"
        "total.backward()"
    )
    assert found(source) == {AccumulatingLoop("total", 2, 8)}


# In these, a backward in each pass would compute something else, would not help, or exists already.
OTHERS = {
    "a state is handed on": """\
h = 0
loss = 0
for x in xs:
    y, h = cell(x, h)
    loss += loss_of(y)
loss.backward()""",
    "a state is set at times": """\
loss = 0
for t, x in xs:
    if t == 0:
        h = zeros
    h = cell(x, h)
    loss += h.sum()
loss.backward()""",
    "an attribute is handed on": """\
loss = 0
for x in xs:
    loss += net(x, self.h)
    self.h = net.h
loss.backward()""",
    "layers": """\
for x in xs:
    for layer in layers:
        x = x + layer(x)
    x.sum().backward()""",
    "within": """\
total = 0
for x in xs:
    loss = net(x)
    total += loss
    loss.backward()""",
    "a history": """\
total = 0
for x in xs:
    total += net(x)
print(total)
net(x).backward()""",
}


HANDING_ON = {
    "a state is handed on": AccumulatingLoop("h", 3, 6, hands_on=True),
    "a state is set at times": AccumulatingLoop("h", 2, 7, hands_on=True),
    "an attribute is handed on": AccumulatingLoop("self.h", 2, 5, hands_on=True),
    "layers": AccumulatingLoop("x", 2, 4, hands_on=True),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops_are_not_accumulating(name: str) -> None:
    assert found(OTHERS[name]) == ({HANDING_ON[name]} if name in HANDING_ON else set())
