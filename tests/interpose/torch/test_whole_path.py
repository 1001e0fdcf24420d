# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Goes from a real script in the stock wheel through our allocator and trace to the report's figures."""

from pathlib import Path

import pytest
from support.programs import GIB, MIB, ROOT, on_card

SMALL = Path(__file__).with_name("small_training.py")
XL_PARAMETERS = 1_557_611_200 * 4  # bytes: fp32


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Returns the demo's run, which ends in torch.OutOfMemoryError, so Python's status is 1."""
    return on_card(ROOT / "examples/train_gpt2_xl.py", tmp_path_factory.mktemp("demo"), expect=1)


def bytes_of(rows, name):
    return next((row["bytes"] for row in rows if row["name"] == name), 0)


def test_gpt2_xl_fails_with_torchs_error_and_our_verdict(demo):
    last = demo.err[demo.err.rindex("torch.OutOfMemoryError") :]
    assert last.startswith("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ")
    assert "optimizer states" in last


def test_gpt2_xl_runs_out_in_the_foreach_copy(demo):
    report = demo.report()
    assert report["schema"] == "memtrace.report/1"
    # Unused bytes may be enough for the request, but not for the rest of the copy.
    assert report["verdict"]["cause"] == "capacity"
    assert "foreach" in report["verdict"]["sentence"]
    assert "transient" in report["verdict"]["contributing"]
    assert report["request"]["role"] == "temporary"
    assert report["verdict"]["short_by"] > 0
    # One copy of the parameters, less the existing part and the available memory.
    assert 0 < report["verdict"]["step_short_by"] < XL_PARAMETERS


def test_gpt2_xl_roles_have_the_computed_sizes(demo):
    roles = demo.report()["peak"]["by_role"]
    assert bytes_of(roles, "parameter") == pytest.approx(XL_PARAMETERS, rel=0.01)
    assert bytes_of(roles, "gradient") == pytest.approx(XL_PARAMETERS, rel=0.01)
    assert bytes_of(roles, "optimizer_state") == pytest.approx(2 * XL_PARAMETERS, rel=0.01)


def test_ledger_sums_to_the_card_with_nothing_unexplained(demo):
    report = demo.report()
    assert report["card"]["bytes"] == 24 * GIB
    assert sum(entry["bytes"] for entry in report["ledger"]) == 24 * GIB
    assert bytes_of(report["ledger"], "unexplained") == 0
    assert bytes_of(report["ledger"], "context") == 500 * MIB


def test_every_breakdown_of_the_peak_sums_to_it(demo):
    peak = demo.report()["peak"]
    for breakdown in ("by_role", "by_owner", "by_site"):
        assert sum(row["bytes"] for row in peak[breakdown]) == peak["bytes"], breakdown


def test_change_that_the_report_names_fits_the_same_card(demo, tmp_path):
    """The demo tries it, too. The need that the report foretold is that of the run, to a twentieth."""
    (named,) = [change for change in demo.report()["remedies"] if change["hook"] == "bf16"]
    run = on_card(ROOT / "examples/train_gpt2_xl_bf16.py", tmp_path)
    report = run.report()
    assert report["verdict"]["cause"] == "none"
    assert bytes_of(report["peak"]["by_role"], "optimizer_state") == pytest.approx(XL_PARAMETERS, rel=0.01)
    used = report["card"]["bytes"] - bytes_of(report["ledger"], "free")
    assert named["predicted_peak"] == pytest.approx(used, rel=0.05)


def test_allocator_serves_without_a_trace(tmp_path):
    script = """
import torch, memtrace
with memtrace.tag("run"):
    model = torch.nn.Linear(1000, 1000).cuda()
memtrace.step()
model(torch.ones(1, 1000, device="cuda")).sum().backward()
assert all(s["is_expandable"] for s in torch.cuda.memory_snapshot()), "torch's own allocator"
torch.empty(30 << 30, dtype=torch.uint8, device="cuda")
"""
    done = on_card(script, tmp_path, options=("--no-trace",), output=False, expect=1)
    assert "torch.OutOfMemoryError" in done.err
    assert "It is not known who holds the memory, because no trace is recorded" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


def test_requested_peak_equals_torchs(tmp_path):
    peaks = {}
    for allocator in ("native", "memtrace"):
        folder = tmp_path / allocator
        folder.mkdir()
        run = on_card(SMALL, folder, options=("--allocator", allocator))
        assert run.report()["peak"]["bytes"] == run.printed()["requested_peak"], allocator
        peaks[allocator] = run.printed()["requested_peak"]
    assert peaks["native"] == peaks["memtrace"]


def test_final_live_set_equals_torchs_requested_bytes(tmp_path):
    for allocator in ("native", "memtrace"):
        folder = tmp_path / allocator
        folder.mkdir()
        run = on_card(SMALL, folder, options=("--allocator", allocator))
        device = run.stats()["devices"][0]
        assert device["requested"] == run.printed()["requested_now"], allocator
        assert device["reserved"] == run.printed()["reserved_now"], allocator


def test_roles_are_known_without_changing_the_script(tmp_path):
    run = on_card(SMALL, tmp_path)
    peak = run.report()["peak"]
    parameters = run.printed()["parameters"]
    assert bytes_of(peak["by_role"], "parameter") == parameters
    assert bytes_of(peak["by_role"], "optimizer_state") == pytest.approx(2 * parameters, rel=0.01)
    assert bytes_of(peak["by_role"], "activation") > 0
    assert any("encoder.layers.*" in row["name"] for row in peak["by_site"])


# torch's own allocator first gets no memory for `last`, gives its cached memory back, and tries again.
REFUSED = """
import ctypes
import torch

kept = torch.empty(18 << 30, dtype=torch.uint8, device="cuda")
cached = torch.empty(3 << 30, dtype=torch.uint8, device="cuda")
del cached
last = torch.empty(4 << 30, dtype=torch.uint8, device="cuda")
del last
torch.cuda.empty_cache()
address = ctypes.c_void_p()
runtime = ctypes.CDLL("libcudart.so.13")
if runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(8 << 30)) != 0:
    raise RuntimeError("CUDA error: out of memory")
"""


def test_memory_from_the_driver_is_outside_allocator(tmp_path):
    run = on_card(
        """
import ctypes
import torch

torch.empty(1, device="cuda")
address = ctypes.c_void_p()
runtime = ctypes.CDLL("libcudart.so.13")
assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(64 << 20)) == 0
torch.empty(30 << 30, device="cuda")
""",
        tmp_path,
        expect=1,
    )
    ledger = run.report()["ledger"]
    assert bytes_of(ledger, "outside_allocator") == 64 * MIB
    assert bytes_of(ledger, "unexplained") == 0


@pytest.mark.parametrize("allocator", ["native", "memtrace"])
def test_a_request_of_another_library_that_the_card_refuses_is_the_out_of_memory(allocator, tmp_path):
    report = on_card(REFUSED, tmp_path, expect=1, options=("--allocator", allocator)).report()
    assert report["request"]["bytes"] == 8 * GIB
    assert report["request"]["of"] == 1, "what torch's own allocator tried again counts as a failure"
