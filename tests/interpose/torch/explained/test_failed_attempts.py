# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Failed attempts of a retry loop leave memory behind, in traces of real programs; each cure is tested."""

from pathlib import Path

from support.json_object import JsonObject
from support.programs import MIB, on_card

CARD = "1000MiB,context=480MiB"
# Each example keeps 32 MiB for backward: half the batch fits if the attempt with the whole batch is gone.
PROGRAM = """
import torch
from torch import nn
model = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(1024, 1024), nn.Tanh())]).cuda()
optimizer = torch.optim.SGD(model.parameters())
def attempt(batch):
    x = torch.ones(batch, 1024, 1024, device="cuda")
    for layer in model:
        x = layer(x)
    return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = model
    def forward(self, batch):
        return attempt(batch)
whole = Model()
def step(batch):
    whole(batch).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
IN_HANDLER = """
try:
    step(16)
except torch.OutOfMemoryError:
    step(8)
"""
KEPT = """
errors = []
for batch in (16, 8):
    try:
        step(batch)
        break
    except torch.OutOfMemoryError as error:
        errors.append(error)
else:
    raise errors[-1]
"""
# Shows a cell's exception and goes on with the next cell, as a prompt or a notebook does.
CELLS = """
import sys
for batch in (16, 8):
    try:
        step(batch)
    except torch.OutOfMemoryError as error:
        if batch == 8:
            raise
        sys.last_value = error
"""
# The forward goes on after its request failed; the memory that it keeps belongs to no failed attempt.
GOES_ON = """
kept = []
class Fallback(nn.Module):
    def forward(self, batch):
        x = torch.ones(batch, 1024, 1024, device="cuda")
        kept.append(x.clone())
        try:
            torch.empty(1 << 40, device="cuda")
        except torch.OutOfMemoryError:
            pass
        return x.clone()
fallback = Fallback()
with torch.no_grad():
    fallback(4)
    fallback(4)
step(16)
"""
AFTER = """
for batch in (16, 8):
    try:
        step(batch)
        break
    except torch.OutOfMemoryError:
        pass
"""


def report_of(tmp_path: Path, loop: str) -> JsonObject:
    return on_card(PROGRAM + loop, tmp_path, card=CARD, expect=1).report()


def assert_is_no_matter_of_the_batch(report: JsonObject) -> None:
    left = report["failed_attempts"]
    assert left["attempts"] == 1 and left["bytes"] > 250 * MIB
    assert not [row for row in report["remedies"] if "half" in row["name"]]
    let_go = next(row for row in report["remedies"] if row["name"] == "let go of the failed attempt")
    assert let_go["at_least"]
    assert "was allocated in an earlier attempt that failed." in report["verdict"]["sentence"]


def test_retry_inside_the_handler_is_named(tmp_path: Path) -> None:
    report = report_of(tmp_path, IN_HANDLER)
    assert_is_no_matter_of_the_batch(report)
    assert report["failed_attempts"]["kept_by"] == "handler"
    assert report["failed_attempts"]["at"] == "train.py:26"


def test_kept_exception_is_named(tmp_path: Path) -> None:
    report = report_of(tmp_path, KEPT)
    assert_is_no_matter_of_the_batch(report)
    left = report["failed_attempts"]
    assert (left["kept_by"], left["name"], left["at"]) == ("name", "errors[0]", "train.py")


def test_exception_of_the_latest_cell_is_named(tmp_path: Path) -> None:
    report = report_of(tmp_path, CELLS)
    assert_is_no_matter_of_the_batch(report)
    assert report["failed_attempts"]["name"] == "sys.last_value"


def test_continuing_pass_is_not_a_failed_attempt(tmp_path: Path) -> None:
    report = report_of(tmp_path, GOES_ON)
    assert "failed_attempts" not in report
    assert any("half" in row["name"] for row in report["remedies"])


def test_retry_after_the_handler_fits_with_half_the_batch(tmp_path: Path) -> None:
    on_card(PROGRAM + AFTER, tmp_path, card=CARD)


def test_first_failure_has_no_earlier_attempt(tmp_path: Path) -> None:
    report = report_of(tmp_path, "step(16)")
    assert "failed_attempts" not in report
    assert any("half" in row["name"] for row in report["remedies"])


# Keeps futures as servers do: each job is 256 MiB or 64 MiB before its first module, and again within it.
FUTURES = """
from concurrent.futures import ThreadPoolExecutor
import torch
from torch import nn
network = nn.Sequential(nn.Linear(1024, 1024), nn.Tanh()).cuda().eval()
executor = ThreadPoolExecutor(1)
jobs = {{}}
@torch.no_grad()
def infer(rows):
    total = torch.zeros(rows, 1024, device="cuda")
    return network(torch.ones(rows, 1024, device="cuda")) + total
for name, rows in (("large", 1 << 16), ("small", 1 << 14)):
    jobs[name] = executor.submit(infer, rows)
    print(name, type(jobs[name].exception()).__name__)
    {}
"""


def test_memory_made_before_the_first_module_is_counted(tmp_path: Path) -> None:
    failed = on_card(FUTURES.format(""), tmp_path, card=CARD)
    assert failed.out.split() == ["large", "OutOfMemoryError", "small", "OutOfMemoryError"]
    left = failed.report()["failed_attempts"]
    assert (left["bytes"], left["name"]) == (512 * MIB, "jobs['large']._exception")
    cured = FUTURES.format("jobs[name]._exception = None")
    assert on_card(cured, tmp_path, card=CARD).out.split()[2:] == ["small", "NoneType"]
