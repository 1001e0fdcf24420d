# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torch's history of allocations, with our allocator and with torch's observed, is as torch.cuda.memory promises."""

import pytest
from support.programs import on_card

START = """
import torch
memory = torch.cuda.memory
def actions():
    return [e["action"] for e in memory._snapshot()["device_traces"][0]]
torch.empty(1, device="cuda")
"""

WORKS = {
    "events_with_stacks": """
memory._record_memory_history()
def here():
    return torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
kept = here()
snapshot = memory._snapshot()
trace = snapshot["device_traces"][0]
assert [e["action"] for e in trace] == ["segment_map", "alloc"], trace
assert trace[1]["size"] == 3 << 20 and trace[1]["addr"] == kept.data_ptr()
assert any(f["name"] == "here" for f in trace[1]["frames"])
blocks = [b for s in snapshot["segments"] for b in s["blocks"] if b["requested_size"] == 3 << 20]
assert any(f["name"] == "here" for f in blocks[0]["frames"])
assert snapshot["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"] == ""
""",
    "the_latest_entries_are_kept": """
memory._record_memory_history(max_entries=4)
for _ in range(5):
    torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
assert actions() == ["free_completed", "alloc", "free_requested", "free_completed"], actions()
""",
    "time_goes_on": """
memory._record_memory_history(stacks="python")
import time
before = time.time()
torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
stamps = [e["time_us"] for e in memory._snapshot()["device_traces"][0]]
assert stamps == sorted(stamps) and abs(stamps[0] / 1e6 - before) < 60, (stamps, before)
""",
    "actions_can_be_skipped": """
memory._record_memory_history(skip_actions=["free_requested", "segment_map"])
torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
assert actions() == ["alloc", "free_completed"], actions()
""",
    "it_ends_and_is_cleared": """
memory._record_memory_history()
torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
memory._record_memory_history(None)
torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
assert actions() == []
""",
    "traces_can_be_left_out": """
memory._record_memory_history()
torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
assert torch._C._cuda_memorySnapshot((0, 0, False))["device_traces"] == [[]]
assert torch._C._cuda_memorySnapshot((0, 0, True))["device_traces"][0][-1]["action"] == "snapshot"
""",
    "an_out_of_memory_is_an_event": """
memory._record_memory_history()
try:
    torch.empty(25 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    pass
event = memory._snapshot()["device_traces"][0][-1]
assert event["action"] == "oom" and event["size"] == 25 << 30 and 0 < event["device_free"] < 24 << 30, event
""",
    "the_programs_own_words": """
memory._record_memory_history(global_record_annotations=True)
memory._set_memory_metadata("policy")
assert memory._get_memory_metadata() == "policy"
with torch.autograd.profiler.record_function("## forward ##"):
    torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
snapshot = memory._snapshot()
assert {e["user_metadata"] for e in snapshot["device_traces"][0]} == {"policy"}
names = [(a["name"], a["stage"]) for a in snapshot["external_annotations"]]
assert names == [("## forward ##", "START"), ("## forward ##", "END")], names
""",
    "settings_are_torchs_own": """
assert memory.memory_stats()["max_split_size"] == -1
assert memory._snapshot()["allocator_settings"]["expandable_segments"] is False
""",
    "a_dump_can_be_read_again": """
import pickle
memory._record_memory_history()
kept = torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
memory._dump_snapshot("dump.pickle")
with open("dump.pickle", "rb") as file:
    assert pickle.load(file)["segments"][-1]["blocks"][0]["requested_size"] == 3 << 20
""",
}


@pytest.mark.parametrize("name", WORKS)
def test_history_functions_work(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    on_card(START + WORKS[name], tmp_path)


OBSERVED = """
kept = [torch.empty(3 << 20, dtype=torch.uint8, device="cuda") for _ in range(2)]
assert actions() == [], actions()
memory._record_memory_history(max_entries=100)
def here():
    return torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
kept.append(here())
trace = memory._snapshot()["device_traces"][0]
assert [e["action"] for e in trace if e["action"] != "snapshot"][-1] == "alloc", trace
assert trace[-1]["addr"] == kept[-1].data_ptr() and any(f["name"] == "here" for f in trace[-1]["frames"])
assert all(e["addr"] != tensor.data_ptr() for e in trace for tensor in kept[:2]), trace
print(memory.memory_stats()["max_split_size"])
"""


def test_history_of_an_observed_allocator_is_the_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert on_card(START + OBSERVED, tmp_path, options=("--allocator", "native")).printed() == -1


@pytest.mark.parametrize("allocator", ["memtrace", "native"])
def test_expandable_segments_cause_no_warning(allocator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    program = (
        START
        + """
kept = torch.empty(31 << 20, dtype=torch.uint8, device="cuda")
print(int(memory._snapshot()["allocator_settings"]["expandable_segments"]))
"""
    )
    done = on_card(program, tmp_path, options=("--allocator", allocator))
    assert done.printed() == 1
    assert "not supported" not in done.err and "cannot be observed" not in done.err
