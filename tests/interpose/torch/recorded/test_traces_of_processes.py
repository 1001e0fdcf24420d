# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Which of a program's processes write a trace, how much of it is kept, and what is left after kill -9."""

import json
import os
from pathlib import Path

import pytest
from support.programs import ROOT, memtrace, on_card

KILLED = Path(__file__).with_name("killed_trainings.py")
TRAINING = ROOT / "tests/interpose/torch/small_training.py"
HOLDS = """
import torch
def hold(mib):
    globals()["kept"] = torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
"""


def traces(folder: Path) -> dict[str, int]:
    """Returns the requested bytes at the peak of each trace in the folder, by name."""
    found = {}
    for path in sorted(folder.glob("*.trace*")):
        read = memtrace("report", "--json", str(path))
        assert read.status == 0, (path.name, read.err)
        found[path.name] = json.loads(read.out)["peak"]["bytes"] >> 20
    return found


@pytest.mark.slow
@pytest.mark.parametrize("keep", [(), ("--keep", "4MiB")], ids=["whole", "kept"])
def test_traces_of_killed_trainings_are_readable(tmp_path, keep):
    arguments = ("10", "3", "400000") if keep else ("20", "3", "0")
    run = on_card(KILLED, tmp_path, *arguments, card="1GiB", options=keep, seconds=400)
    files = list(tmp_path.glob("run.trace*"))
    told = run.printed()
    assert len(files) == len(told) == (10 if keep else 20)
    for path in files:
        read = memtrace("stats", "--json", str(path))
        assert read.status == 0, read.err
        stats = json.loads(read.out)
        assert stats["lost"]["damaged_blocks"] == 0 and stats["lost"]["events"] == 0
        pid = int(json.loads(memtrace("report", "--json", str(path)).out)["run"]["pid"])
        finished = next(row["steps"] for row in told if row["process"] == pid)
        begins = stats["lost"].get("begins_at_step", 0)
        assert stats["lost"].get("live_set_missing", False) is False
        assert begins + stats["events"]["steps"] >= finished
        assert ("dropped_events" in stats["lost"]) == bool(keep), "long enough to drop something"
        summary = json.loads(memtrace("stats", "--summary", "--json", str(path)).out)
        assert summary["schema"] == "memtrace.summary/1"
        assert path.stat().st_size <= 4 << 20 or not keep


def test_summary_of_an_ended_run_agrees_with_the_analysis(tmp_path):
    run = on_card(TRAINING, tmp_path, card="4GiB")
    summary = json.loads(memtrace("stats", "--summary", "--json", str(run.trace)).out)
    stats, report = run.stats(), run.report()
    card = summary["cards"][0]
    assert summary["last"] == 1
    assert summary["events"] == stats["events"]["all"]
    assert card["live_requested"] == stats["devices"][0]["requested"]
    assert card["peak"]["bytes"] == report["peak"]["bytes"]
    by_role: dict[str, int] = {}
    for role, _, held in card["peak"]["held"]:
        by_role[role] = by_role.get(role, 0) + held
    assert by_role == {row["name"]: row["bytes"] for row in report["peak"]["by_role"]}


def test_kept_last_part_of_a_training_is_explained(tmp_path):
    script = """
import torch
model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(30):
    for _ in range(16000):
        torch.empty(512, device="cuda")
    model(torch.randn(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
torch.empty(2 << 30, device="cuda", dtype=torch.uint8)
"""
    run = on_card(script, tmp_path, card="1GiB", options=("--keep", "4MiB"), expect=1)
    assert run.trace.stat().st_size <= 4 << 20
    report = run.report()
    lost = report["lost"]
    assert lost["dropped_events"] > 0 and not lost["live_set_missing"] and lost["begins_at_step"] > 0
    assert report["verdict"]["cause"] == "too_large", report["verdict"]
    held = {row["name"]: row["bytes"] for row in report["peak"]["by_role"]}
    parameters = 1024 * 1024 * 4 + 1024 * 4
    assert held["parameter"] == parameters and held["optimizer_state"] >= 2 * parameters
    assert "dropped, as requested with --keep" in memtrace("report", str(run.trace)).out


def test_invalid_keep_amount_is_reported(tmp_path):
    script = HOLDS + "hold(1)\nprint('done')\n"
    run = on_card(script, tmp_path, options=("--keep", "1MiB"), expect=None)
    assert run.status == 2 and "keep at least 4MiB" in run.err
    run = on_card(script, tmp_path, MEMTRACE_KEEP="much")
    assert run.out == "done\n" and "MEMTRACE_KEEP=much is not an amount" in run.err


def test_paths_are_omitted_on_request(tmp_path):
    run = on_card(HOLDS + "hold(1)\n", tmp_path, str(tmp_path / "data.bin"), options=("--no-paths",))
    assert str(tmp_path).encode() not in run.trace.read_bytes()
    assert b"train.py" in run.trace.read_bytes() and b"data.bin" in run.trace.read_bytes()


def test_source_is_omitted_on_request(tmp_path):
    run = on_card(HOLDS + "hold(1)\n", tmp_path, options=("--no-source", "--native-stacks"))
    written = run.trace.read_bytes()
    assert b"hold" not in written and b"<module>" not in written
    assert run.report()["peak"]["bytes"] == 1 << 20


# Each ends with the MiB that its processes hold: 3 in the first one, 5 and 7 in its children.
STARTS = {
    "a child by spawn": (
        "import multiprocessing\n"
        + HOLDS
        + """
if __name__ == "__main__":
    hold(3)
    child = multiprocessing.get_context("spawn").Process(target=hold, args=(5,))
    child.start(); child.join(); assert child.exitcode == 0
""",
        [3, 5],
    ),
    "a child by forkserver": (
        "import multiprocessing\n"
        + HOLDS
        + """
if __name__ == "__main__":
    hold(3)
    child = multiprocessing.get_context("forkserver").Process(target=hold, args=(5,))
    child.start(); child.join(); assert child.exitcode == 0
""",
        [3, 5],
    ),
    "a child forked before CUDA": (
        HOLDS
        + """
import os
child = os.fork()
hold(5 if child == 0 else 3)
if child: assert os.waitpid(child, 0)[1] == 0
""",
        [3, 5],
    ),
    "a child forked after CUDA": (
        HOLDS
        + """
import os
hold(3)
child = os.fork()
if child == 0:
    try:
        hold(5)
    except RuntimeError as error:
        os._exit(17 if "forked subprocess" in str(error) else 1)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
""",
        [3],
    ),
    "another program by exec, before CUDA": (
        HOLDS
        + """
import os, sys
if len(sys.argv) == 1: os.execv(sys.executable, [sys.executable, __file__, "again"])
hold(3)
""",
        [3],
    ),
    "another program by exec, with CUDA in use": (
        HOLDS
        + """
import os, sys
hold(5 if len(sys.argv) > 1 else 3)
if len(sys.argv) == 1: os.execv(sys.executable, [sys.executable, __file__, "again"])
""",
        [3, 5],
    ),
    "a daemon": (
        HOLDS
        + """
import os, time
path = os.path.join(os.path.dirname(__file__), "done")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        os.closerange(0, 256)
        hold(3)
        open(path, "w").close()
    os._exit(0) if os.getppid() != 1 and not os.path.exists(path) else None
else:
    while not os.path.exists(path): time.sleep(0.01)
    time.sleep(0.5)
""",
        [3],
    ),
}


@pytest.mark.parametrize("kind", STARTS)
def test_each_process_that_uses_cuda_has_its_own_trace(tmp_path, kind):
    script, expected = STARTS[kind]
    on_card(script, tmp_path, card="1GiB")
    assert sorted(traces(tmp_path).values()) == expected


def test_each_rank_of_torchrun_has_its_own_trace(tmp_path):
    script = HOLDS + "import os\nhold(3 + 2 * int(os.environ['RANK']))\n"
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    on_card(script, tmp_path, card="2x1GiB", launcher=torchrun)
    found = traces(tmp_path)
    assert sorted(found.values()) == [3, 5]
    ranks = {json.loads(memtrace("report", "--json", str(tmp_path / name)).out)["run"].get("rank") for name in found}
    assert ranks == {"0", "1"}, ranks


def test_top_and_snapshot_work_on_a_training(tmp_path):
    script = """
import os, subprocess, sys
import memtrace, torch
with memtrace.tag("policy"):
    kept = torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
program = os.path.join(os.path.dirname(sys.executable), "memtrace")
def ask(*arguments):
    return subprocess.Popen([program, *arguments, str(os.getpid())], stdout=subprocess.PIPE, text=True)
marking = ask("snapshot")
while marking.poll() is None:
    torch.empty(1000, device="cuda")
assert marking.returncode == 0
import time; time.sleep(1.1); torch.empty(1000, device="cuda")   # a summary a second
print(ask("top", "--json", "-n", "1").communicate()[0].replace(chr(10), " "))
"""
    run = on_card(script, tmp_path, card="1GiB")
    now = run.printed()["cards"][0]["now"]
    assert ("policy", 3 << 20) in {(owner, held) for _, owner, held in now}, now
    assert list(run.stats()["snapshots"]) == ["1"]


def test_unwritable_folder_loses_only_the_trace(tmp_path):
    folder = tmp_path / "readonly"
    folder.mkdir()
    # A file takes the place of a folder, because root may write where others may not.
    (folder / "file").write_text("")
    run = on_card(
        HOLDS + "hold(1)\nprint('done')\n",
        tmp_path,
        output=False,
        MEMTRACE_OUTPUT=str(folder / "file" / "run.trace"),
        MEMTRACE_KEEP="4MiB",
    )
    assert run.out == "done\n"
    assert os.listdir(folder) == ["file"]
