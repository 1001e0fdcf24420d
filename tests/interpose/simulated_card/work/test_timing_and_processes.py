# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Real torch on a card whose work is done early or late, and in several processes on one card."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MEMTRACE = Path(sys.executable).parent / "memtrace"
SECONDS = 280


def run(tmp_path: Path, *options: str, program: list[str]) -> subprocess.CompletedProcess[str]:
    command = [str(MEMTRACE), "run", *options, "-o", str(tmp_path / "run.trace"), "-f", "--", sys.executable, *program]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)


def report(tmp_path: Path) -> tuple[str, dict]:
    text, as_json = (
        subprocess.run(
            [str(MEMTRACE), "report", *options, str(tmp_path / "run.trace")],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout
        for options in (["--verbose"], ["--json"])
    )
    return " ".join(text.split()), json.loads(as_json)["simulated"]


def reserved(done: subprocess.CompletedProcess[str]) -> int:
    assert done.returncode == 0, done.stderr
    found = re.search(r"RESERVED (\d+)", done.stdout)
    assert found
    return int(found[1])


@pytest.mark.parametrize("allocator", ["memtrace", pytest.param("native", marks=pytest.mark.slow)])
def test_record_stream_gives_a_lower_and_an_upper_bound(tmp_path: Path, allocator: str) -> None:
    options = ("--card", "4GiB", "--allocator", allocator)
    program = [str(HERE / "two_streams.py")]
    eager = reserved(run(tmp_path, *options, program=program))
    text, facts = report(tmp_path)
    assert facts["events"] == "eager"
    assert facts["timed_answers"] > 0
    assert "This run is the lower bound; --events lazy gives the upper one." in text
    lazy = reserved(run(tmp_path, *options, "--events", "lazy", program=program))
    text, facts = report(tmp_path)
    assert facts["events"] == "lazy"
    assert facts["timed_answers"] > 0
    assert facts["faults"] == 0
    assert "This run is the upper bound; --events eager gives the lower one." in text
    assert eager == 64
    assert lazy == 8 * 64


def test_program_that_waits_does_not_depend_on_timing(tmp_path: Path) -> None:
    for events in ("eager", "lazy"):
        done = run(tmp_path, "--card", "4GiB", "--events", events, program=[str(HERE / "two_streams.py"), "--wait"])
        assert reserved(done) == 64
        text, facts = report(tmp_path)
        assert facts["timed_answers"] == 0
        assert "The other timing gives the same run." in text


NEEDS_THE_CACHE = """
import torch
torch.ones(1, device="cuda")
for size in (600, 1100, 1900, 2700):  # of 4 GiB: each needs what the one before left in the cache
    x = torch.empty(size << 20, dtype=torch.uint8, device="cuda")
    x.add_(1)
    del x
print("RESERVED", torch.cuda.max_memory_reserved() >> 20)
"""


@pytest.mark.parametrize("mode", ["memtrace", "native", pytest.param("expandable", marks=pytest.mark.slow)])
def test_allocators_wait_before_they_unmap_memory(tmp_path: Path, mode: str) -> None:
    program = NEEDS_THE_CACHE
    if mode == "expandable":
        program = "import os; os.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'\n" + program
    allocator = "memtrace" if mode == "memtrace" else "native"
    options = ("--card", "4GiB", "--allocator", allocator, "--events", "lazy")
    assert reserved(run(tmp_path, *options, program=["-c", program])) <= 3600
    assert report(tmp_path)[1]["faults"] == 0


TWO_RANKS = """
import os, subprocess, sys
import torch
x = torch.empty(900 << 20, dtype=torch.uint8, device="cuda")
if sys.argv[1:] != ["child"]:
    child = [sys.executable, sys.argv[0], "child"]
    print(subprocess.run(child, capture_output=True, text=True, timeout=200).stdout)
    free, total = torch.cuda.mem_get_info()
    print("AFTER", free >> 20)
else:
    free, total = torch.cuda.mem_get_info()
    print("CHILD", free >> 20, total >> 20)
    try:
        torch.empty(400 << 20, dtype=torch.uint8, device="cuda")
        print("FITS")
    except torch.OutOfMemoryError:
        print("OUT OF MEMORY", flush=True)
        os._exit(1)  # a crash: nothing is given back in good order
"""


@pytest.mark.parametrize("allocator", ["memtrace", pytest.param("native", marks=pytest.mark.slow)])
def test_processes_on_one_card_run_out_together(tmp_path: Path, allocator: str) -> None:
    script = tmp_path / "ranks.py"
    script.write_text(TWO_RANKS)
    done = run(tmp_path, "--card", "2GiB,context=0MiB", "--allocator", allocator, program=[str(script)])
    assert done.returncode == 0, done.stderr
    child = re.search(r"CHILD (\d+) 2048", done.stdout)
    assert child, done.stdout + done.stderr
    assert int(child[1]) == 2048 - 2 * 900
    assert "OUT OF MEMORY" in done.stdout
    assert "AFTER 1148" in done.stdout


OWN_CARD = """
import memtrace
memtrace.simulated_card("2GiB,context=0MiB")
import subprocess, sys, torch
kept = torch.empty(900 << 20, dtype=torch.uint8, device="cuda")
child = "import torch; torch.ones(1, device='cuda'); print(torch.cuda.mem_get_info()[0] >> 20)"
print(subprocess.run([*sys.argv[1:], sys.executable, "-c", child], capture_output=True, text=True, timeout=200))
"""


@pytest.mark.parametrize("started_by_run", [False, True])
def test_programs_own_card_is_inherited_by_children(tmp_path: Path, started_by_run: bool) -> None:
    """A process that the program starts is recorded only if it is `memtrace run`, which gives it its own card."""
    run_options = ["run", "--card", "3GiB,context=0MiB", "-o", "run.trace", "--"]
    through = [str(MEMTRACE), *run_options] if started_by_run else []
    command = [sys.executable, "-c", OWN_CARD, *through]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False)
    free = 3072 - 2 if started_by_run else 2048 - 900 - 2
    assert f"stdout='{free}\\n'" in done.stdout, done.stdout + done.stderr
    assert [file.name for file in tmp_path.iterdir()] == (["run.trace"] if started_by_run else [])


LOADER = """
import sys
import torch

class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, i):
        return torch.full((1024,), float(i * i))

def main(method):
    torch.zeros(1, device="cuda")  # CUDA has started when the workers are made
    loader = torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=2, pin_memory=True,
                                         multiprocessing_context=method)
    total = 0.0
    for batch in loader:
        total += batch.to("cuda", non_blocking=True).cpu()[:, 0].sum().item()
    print("TOTAL", total)

if __name__ == "__main__":
    main(sys.argv[1])
"""


@pytest.mark.parametrize(
    ("method", "events"),
    [
        ("fork", "lazy"),
        ("spawn", "eager"),
        *(pytest.param(*both, marks=pytest.mark.slow) for both in (("fork", "eager"), ("spawn", "lazy"))),
    ],
)
def test_data_loader_workers_use_the_card(tmp_path: Path, method: str, events: str) -> None:
    script = tmp_path / "loader.py"
    script.write_text(LOADER)
    done = run(tmp_path, "--card", "2GiB", "--events", events, program=[str(script), method])
    assert done.returncode == 0, done.stderr
    assert f"TOTAL {float(sum(i * i for i in range(64)))}" in done.stdout


AFTER_IMPORT = """
import ctypes, os
import torch
if (child := os.fork()) == 0:
    os.environ["MEMTRACE_CARD"] = "3GiB"
    assert ctypes.CDLL("libcuda.so.1").memtrace_card_read_again() == 0
    os._exit(torch.cuda.get_device_properties(0).total_memory >> 30)
print("CHILD", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
print("CARDS", torch.cuda.device_count(), torch.cuda.get_device_properties(0).total_memory >> 30)
"""


def test_import_of_torch_is_no_use_of_the_card(tmp_path: Path) -> None:
    """The driver starts at its first call: until then a program can choose its cards, and fork."""
    done = run(tmp_path, "--card", "2GiB", "--card", "4GiB", program=["-c", AFTER_IMPORT])
    assert done.stdout.split() == ["CHILD", "3", "CARDS", "1", "4"], done.stdout + done.stderr


RANK = r"""
import os
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
x = torch.full((1 << 20,), float(rank)).to("cuda")  # a copy, which the card carries out
host = x.cpu()
dist.all_reduce(host)
dist.barrier()
free = torch.cuda.mem_get_info()[0] >> 20
# In one call: torchrun makes Python's output unbuffered, and the words of two ranks then mix.
os.write(1, f"RANK {rank} {torch.cuda.current_device()} {host[0].item()} {free}\n".encode())
dist.barrier()
dist.destroy_process_group()
"""


@pytest.mark.parametrize(("cards", "free"), [("2GiB", 2048 - 2 * (500 + 4)), ("2x2GiB", 2048 - (500 + 4))])
def test_ranks_of_torchrun_inherit_the_cards(tmp_path: Path, cards: str, free: int) -> None:
    script = tmp_path / "rank.py"
    script.write_text(RANK)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    done = run(tmp_path, "--card", cards, program=launcher)
    assert done.returncode == 0, done.stderr
    ranks = re.findall(r"RANK (\d) (\d) 1.0 (\d+)", done.stdout)
    devices = {"2GiB": ["0", "0"], "2x2GiB": ["0", "1"]}[cards]
    assert sorted(ranks) == [("0", devices[0], str(free)), ("1", devices[1], str(free))]


COUNTS_THEN_FORKS = """
import os
import torch
assert torch.cuda.device_count() == 1
child = os.fork()
value = torch.full((4,), 3.0 if child else 5.0).to("cuda").sum().item()
total = torch.cuda.get_device_properties(0).total_memory >> 30
if not child:
    os._exit(0 if (value, total) == (20.0, 2) else 1)
assert os.waitpid(child, 0)[1] == 0
assert (value, total) == (12.0, 2), (value, total)
"""


@pytest.mark.parametrize(
    "shown", [pytest.param("1", marks=pytest.mark.slow), "GPU-6d656d74-7261-6365-2063-617264202042"]
)
def test_counting_cards_does_not_start_cuda(tmp_path: Path, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch counts cards with NVML, so a process that has only counted them may fork children that use them."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    script = tmp_path / "count.py"
    script.write_text(COUNTS_THEN_FORKS)
    done = run(tmp_path, "--card", "8GiB", "--card", "2GiB", program=[str(script)])
    assert done.returncode == 0, done.stderr
