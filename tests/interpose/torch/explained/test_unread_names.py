# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Names that hold memory which is not read again, in traces of real programs; each cure is tested."""

from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MIB, Finished, on_card

# Eight weights of 16 MiB are copied in each step; only a small part is trained.
EDITED = """
import torch
from torch import nn
base = nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(8)]).cuda().requires_grad_(False)
head = nn.Linear(2048, 1).cuda()
optimizer = torch.optim.Adam(head.parameters())
x = torch.ones(4, 2048, device="cuda")
for step in range(3):
    base(x)
    edited = {name: weight.detach().clone() for name, weight in base.named_parameters()}
    head(torch.func.functional_call(base, edited, (x,))).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# The card has room for two of the three copies that exist while the second copy is made.
EDITED_CARD = "800MiB,context=480MiB"

# The loss no longer needs the logits of 64 MiB once it has their softmax.
KEPT = """
import torch
from torch import nn
def train(delete):
    model = nn.Linear(64, 4096).cuda()
    optimizer = torch.optim.SGD(model.parameters())
    x, labels = torch.ones(4096, 64, device="cuda"), torch.zeros(4096, dtype=torch.long, device="cuda")
    for step in range(2):
        logits = model(x)
        loss = nn.functional.{}
        if delete:
            del logits
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
import sys
train("delete" in sys.argv)
print(torch.cuda.max_memory_allocated())
"""


def run(folder: Path, script: str, card: str, *arguments: str, status: int | None = 0) -> Finished:
    return on_card(script, folder, *arguments, card=card, expect=status)


def names(report: JsonObject) -> dict[str, JsonObject]:
    return {row["name"]: row for row in report.get("unread_names", [])}


@pytest.mark.parametrize("allocator", ["memtrace", "native"])
def test_earlier_copy_is_named_and_the_program_fits_without_it(tmp_path: Path, allocator: str) -> None:
    failed = on_card(EDITED, tmp_path, card=EDITED_CARD, expect=1, options=("--allocator", allocator))
    report = failed.report()
    edited = names(report)["edited"]
    assert edited["bytes"] == 128 * MIB and edited["since_step"] == 1
    assert edited["is_earlier"] and edited["made_at"] == "train.py:10"
    assert (
        "'edited' still holds the value of step 1 (128.0 MiB, train.py:10) while step 2 makes its own."
        in (report["verdict"]["sentence"])
    )
    first = report["remedies"][0]
    assert first["name"] == "del edited" and not first["at_least"]
    assert first["predicted_peak"] <= report["card"]["bytes"]
    cured = EDITED.replace("    optimizer.zero_grad()", "    optimizer.zero_grad()\n    del edited")
    run(tmp_path, cured, EDITED_CARD)


def test_earlier_copy_is_named_at_the_peak_without_a_failure(tmp_path: Path) -> None:
    report = run(tmp_path, EDITED, "8GiB").report()
    assert names(report)["edited"]["bytes"] == 128 * MIB
    assert (
        "'edited' still held the value of step 1 (128.0 MiB, train.py:10) while step 2 made its own."
        in report["verdict"]["sentence"]
    )
    assert any(row["name"] == "del edited" for row in report["remedies"])


def test_deleting_logits_the_loss_no_longer_needs_saves_their_bytes(tmp_path: Path) -> None:
    script = KEPT.format("cross_entropy(logits, labels)")
    kept = run(tmp_path, script, "8GiB")
    report = kept.report()
    assert names(report)["logits"]["bytes"] == 64 * MIB
    change = next(row["change"] for row in report["remedies"] if row["name"] == "del logits")
    assert change.startswith("del logits before train.py:13")
    deleted = run(tmp_path, script, "8GiB", "delete")
    assert int(kept.out) - int(deleted.out) == 64 * MIB


def test_name_needed_by_backward_is_not_named(tmp_path: Path) -> None:
    script = KEPT.format("mse_loss(logits, torch.zeros_like(logits))")
    assert "logits" not in names(run(tmp_path, script, "8GiB").report())


READ_LATER = """
import torch
from torch import nn
model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters())
def use():
    return seen_by_a_function.sum()
for step in range(2):
    read_later = torch.zeros(4096, 1024, device="cuda")
    seen_by_a_function = torch.zeros(4096, 1024, device="cuda")
    twice = torch.zeros(4096, 1024, device="cuda")
    other = [twice]
    alone = [torch.zeros(4096, 1024, device="cuda")]
    model(torch.ones(4, 1024, device="cuda")).sum().backward()
    optimizer.step()
    print(read_later.sum(), use(), len(other))
torch.empty(1 << 40, device="cuda")
"""


def test_only_sole_holders_of_unread_memory_are_named(tmp_path: Path) -> None:
    report = run(tmp_path, READ_LATER, "2GiB", "--at", "peak", status=1).report("--at", "peak")
    assert set(names(report)) == {"alone"}


FREED = """
import torch
from torch import nn
def train():
    model = nn.Linear(16, 16).cuda()
    optimizer = torch.optim.SGD(model.parameters())
    large = torch.zeros(4096, 4096, device="cuda")
    before = torch.cuda.memory_allocated()
    model(torch.ones(4, 16, device="cuda")).sum().backward()
    optimizer.step()
    try:
        torch.empty(1 << 40, device="cuda")
    except torch.OutOfMemoryError:
        pass
    now = torch.cuda.memory_allocated()
    del large
    print(now - torch.cuda.memory_allocated())
train()
"""


def test_search_for_names_keeps_nothing_alive(tmp_path: Path) -> None:
    assert int(run(tmp_path, FREED, "2GiB").out) == 64 * MIB


def test_search_for_names_keeps_no_frame(tmp_path):
    script = """
import gc, torch
gc.disable()
def ask():
    try:
        torch.empty(64 << 30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        pass
def work():
    held = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    ask()
    held.fill_(1)
work()
print(torch.cuda.memory_allocated())
"""
    assert on_card(script, tmp_path).out.strip() == "0"


# 64 MiB each: the statement that makes the negative from x then requests the third.
READ_BY_STATEMENT = """
import torch
def positive(x):
    x = x.repeat(4, 1)
    return torch.relu(
        torch.neg(x))
def positive_in_two(x):
    x = x.repeat(4, 1)
    negative = torch.neg(x)
    del x
    return torch.relu(negative)
import sys
x = torch.zeros(1024, 4096, device="cuda")
(positive_in_two if "two" in sys.argv else positive)(x)
"""


def test_name_read_by_the_failing_statement_is_deleted_within_it(tmp_path: Path) -> None:
    card, native = "260MiB,context=100MiB", ("--allocator", "native")
    report = on_card(READ_BY_STATEMENT, tmp_path, card=card, expect=1, options=native).report()
    row = next(row for row in report["remedies"] if row["name"] == "del x")
    assert row["change"].startswith("del x at train.py:5 as soon as it has been read: split the statement in two")
    on_card(READ_BY_STATEMENT, tmp_path, "two", card=card, options=native)
