# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the costs of a step beside memory, as a trial of `memtrace fit` states them, with arithmetic from shapes."""

import pytest
import torch
from support.events import annotations
from support.programs import on_card

STEP = """
import torch
torch.cuda.init()
weight = torch.randn(8, 16, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([weight])
def make(*shape, dtype=torch.float32): return torch.zeros(*shape, dtype=dtype, device="cuda")
def first(): {first}
def second(): {second}
for work in (first, second):
    weight.grad = torch.zeros_like(weight)
    work()
    optimizer.step()
"""


def costs(tmp_path, second: str, first: str = "pass") -> dict[str, int]:
    """Returns the costs of the last of two steps, including the optimizer's kernels."""
    run = on_card(STEP.format(first=first, second=second), tmp_path, options=("--allocator", "native"),
                  MEMTRACE_FIT_STEPS="2:2")  # fmt: skip
    told = annotations(run.trace)
    return {key[9:]: int(value) for key, value in told.items() if key.startswith("fit.step.")}


@pytest.mark.parametrize(
    "product, operations",
    [
        ("make(3, 5) @ make(5, 7)", 2 * 3 * 5 * 7),
        ("make(3, 5, dtype=torch.bfloat16) @ make(5, 7, dtype=torch.bfloat16)", 2 * 3 * 5 * 7),
        ("make(3, 5, dtype=torch.float64) @ make(5, 7, dtype=torch.float64)", 2 * 3 * 5 * 7),
        ("make(4, 3, 5) @ make(4, 5, 7)", 4 * 2 * 3 * 5 * 7),
        ("torch.bmm(make(4, 3, 5, dtype=torch.float16), make(4, 5, 7, dtype=torch.float16))", 4 * 2 * 3 * 5 * 7),
        ("torch.nn.functional.linear(make(64, 32), make(48, 32), make(48))", 2 * 64 * 32 * 48),
        ("torch.nn.functional.linear(make(64, 32), make(48, 32), make(48)).relu()", 2 * 64 * 32 * 48),
    ],
)
def test_floating_point_work_follows_the_shapes(tmp_path, product, operations):
    assert costs(tmp_path, product)["product_operations"] == operations


def test_only_host_copies_of_the_last_step_are_counted(tmp_path):
    copies = "make(100).cpu(); torch.zeros(50).cuda(); make(1000).clone()"
    told = costs(tmp_path, copies, first="make(10000).cpu()")
    assert told["host_copy_bytes"] == 4 * 150


def test_page_locked_memory_is_rounded_up_as_torch_holds_it(tmp_path):
    if not hasattr(torch.cuda, "host_memory_stats"):
        pytest.skip("this torch does not count page-locked memory")
    told = costs(tmp_path, "make(4)", first="kept = torch.empty(3 << 20, dtype=torch.uint8, pin_memory=True)")
    assert told["host_memory_bytes"] == 4 << 20


def test_launches_are_counted_by_step(tmp_path):
    # torch makes zeros with a kernel or with a fill of the driver.
    nothing = costs(tmp_path, "make(4)", first="[make(4).add_(1) for _ in range(100)]")["kernel_launches"]
    assert costs(tmp_path, "x = make(4); x.add_(1); x.add_(1)")["kernel_launches"] == nothing + 2
