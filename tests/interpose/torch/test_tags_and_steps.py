# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Owners and steps as a program states them."""

import pytest
from support.programs import on_card

GIB = 1 << 30


def owners(run):
    return {row["name"]: row["bytes"] for row in run.report()["peak"]["by_owner"]}


def test_tags_own_what_is_allocated_inside_and_nest(tmp_path):
    script = """
import memtrace, torch

kept = [torch.empty(1 << 20, dtype=torch.uint8, device="cuda")]
with memtrace.tag("edited_model"):
    kept.append(torch.empty(2 << 20, dtype=torch.uint8, device="cuda"))
    with memtrace.tag("head"):
        kept.append(torch.empty(4 << 20, dtype=torch.uint8, device="cuda"))

@memtrace.tag("reference")
def make():
    return torch.empty(8 << 20, dtype=torch.uint8, device="cuda")

kept.append(make())
"""
    assert owners(on_card(script, tmp_path)) == {
        "(none)": 1 << 20,
        "edited_model": 2 << 20,
        "edited_model/head": 4 << 20,
        "reference": 8 << 20,
    }


def test_the_out_of_memory_error_names_the_largest_owners(tmp_path):
    script = """
import memtrace, torch

with memtrace.tag("edited_model"):
    copy = torch.empty(20 << 30, dtype=torch.uint8, device="cuda")
try:
    torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    assert "edited_model" in str(error) and "20.00 GiB" in str(error), error
    print("said")
"""
    run = on_card(script, tmp_path)
    assert run.out.strip() == "said"
    assert run.report()["verdict"]["cause"] == "capacity"


@pytest.mark.parametrize("name", ["", "a/b"])
def test_a_tag_that_is_no_name_is_refused(name, tmp_path):
    script = f"""
import memtrace
try:
    memtrace.tag({name!r})
except ValueError as error:
    print("refused")
"""
    assert on_card(script, tmp_path).out.strip() == "refused"


def test_enable_and_simulated_card_work_without_the_launcher(tmp_path):
    import subprocess
    import sys

    (tmp_path / "train.py").write_text(
        """
import memtrace
memtrace.simulated_card("2GiB")
memtrace.enable()
import torch
kept = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
"""
    )
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("memtrace-train.*.trace"))) == 1


def test_the_pluggable_functions_serve_torchs_own_class(tmp_path):
    script = """
import memtrace, torch
from torch.cuda.memory import CUDAPluggableAllocator, change_current_allocator

change_current_allocator(
    CUDAPluggableAllocator(memtrace.pluggable_library(), "memtrace_malloc", "memtrace_free")
)
kept = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
    try:
        torch.empty(25 << 30, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError as error:
        print("raised")
print([e.name() for e in profiled.profiler.kineto_results.events() if "Memory" in e.name()])
"""
    import os
    import subprocess
    import sys

    (tmp_path / "train.py").write_text("import memtrace\nmemtrace.simulated_card('24GiB')\n" + script)
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "MEMTRACE_OUTPUT": "run.trace"},
    )
    assert done.stdout.split("\n")[:2] == ["raised", "['[OutOfMemory]']"], done.stderr
