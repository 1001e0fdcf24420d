# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Python under LD_PRELOAD alone is as good as `memtrace run`, and nothing happens without CUDA."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.events import TRACE_TEXT
from support.programs import BUILD, MEMTRACE, MIB, Finished, memtrace

PRELOAD = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages/memtrace/lib"
PRELOAD = PRELOAD / "libmemtrace_preload.so"
PROBE = BUILD / "tests/interpose/preload/libinterpreter_lock_probe.so"

TRAINING = """
import torch
import memtrace
with memtrace.tag("model"):
    model = torch.nn.Linear(1024, 1024, device="cuda")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.randn(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
maps = {line.split()[-1] for line in open("/proc/self/maps") if "libmemtrace" in line}
print(sorted(name.rsplit("/", 1)[1] for name in maps))
"""
PINNED = """
import torch
kept = torch.ones(1 << 20, dtype=torch.uint8).pin_memory()
block = torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
"""
BY_CTYPES = """
import ctypes
runtime = ctypes.CDLL("libcudart.so.13")
def take(mib):
    address = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(mib << 20)) == 0
take(3)
"""
BESIDE = "import torch; block = torch.empty(5 << 20, dtype=torch.uint8, device='cuda')" + BY_CTYPES


def python(folder: Path, script: str, *options: str, preload: bool = True, expect: int = 0, **environment: str):
    """Runs a script with this interpreter on a simulated card, with nothing but LD_PRELOAD."""
    (folder / "train.py").write_text(script)
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("MEMTRACE", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, *options, "train.py"],
        cwd=folder,
        env={
            **inherited,
            "MEMTRACE_OUTPUT": "run.trace",
            **({"LD_PRELOAD": str(PRELOAD)} if preload else {}),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return Finished(done.returncode, done.stdout, done.stderr, folder / "run.trace")


def under_run(folder: Path, script: str, *options: str) -> Finished:
    (folder / "train.py").write_text(script)
    done = subprocess.run(
        [MEMTRACE, "run", "-q", "--card", "1GiB", "-o", "run.trace", *options, "--", sys.executable, "train.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Finished(done.returncode, done.stdout, done.stderr, folder / "run.trace")


# Memory is taken before torch is imported, so the recorder is older than the framework whose operations it asks for.
TAKEN_FIRST = """
import ctypes
held = ctypes.c_void_p()
runtime = ctypes.CDLL("libcudart.so.13")
assert runtime.cudaMalloc(ctypes.byref(held), ctypes.c_size_t(3 << 20)) == 0
import torch
import memtrace
with memtrace.tag("policy"):
    model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024, device="cuda") for _ in range(4)))
    loss = model(torch.randn(512, 1024, device="cuda")).sum()
loss.backward()
"""


def outside(finished: Finished) -> dict[str, int]:
    """Returns the bytes outside the allocator, by kind."""
    kinds: dict[str, int] = {}
    for row in finished.report().get("outside", []):
        kinds[row["kind"]] = kinds.get(row["kind"], 0) + row["bytes"]
    return kinds


def test_preloaded_training_reports_as_under_run(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    alone = python(tmp_path / "a", TRAINING, MEMTRACE_CARD="1GiB")
    run = under_run(tmp_path / "b", TRAINING)
    told = alone.report()
    for part in ("peak", "ledger", "holdings", "verdict"):
        assert told[part] == run.report()[part], part
    assert {share["name"] for share in told["peak"]["by_role"]} >= {"parameter", "gradient", "optimizer_state"}
    assert "model" in {share["name"] for share in told["peak"]["by_owner"]}
    for finished in (alone, run):
        assert finished.out.strip() == str(["libmemtrace.so", "libmemtrace_preload.so", "libmemtrace_torch.so"])
        assert [path.name for path in finished.trace.parent.iterdir() if "trace" in path.name] == ["run.trace"]
    # Memory that our allocator takes from the driver is not outside memory.
    assert outside(alone) == {}
    assert {entry["name"]: entry["bytes"] for entry in told["ledger"]}["unexplained"] == 0


@pytest.mark.parametrize("settings", ["", "expandable_segments:True"])
def test_observed_torch_segments_are_not_outside_memory(tmp_path, settings):
    finished = python(
        tmp_path, TRAINING, MEMTRACE_CARD="1GiB", MEMTRACE_ALLOCATOR="native", PYTORCH_CUDA_ALLOC_CONF=settings
    )
    assert outside(finished) == {}
    assert finished.report()["peak"]["bytes"] > 0


def test_outside_memory_is_listed_and_in_the_ledger(tmp_path):
    # The last block is torch's, so that the peak comes after the others.
    script = BESIDE + "block = torch.empty(7 << 20, dtype=torch.uint8, device='cuda')"
    finished = python(tmp_path, script, MEMTRACE_CARD="1GiB,context=0MiB")
    ledger = {entry["name"]: entry["bytes"] for entry in finished.report()["ledger"]}
    assert outside(finished) == {"device": 3 * MIB}
    assert ledger["outside_allocator"] == 4 * MIB  # the driver's granule is 2 MiB
    assert ledger["unexplained"] == 0


def test_backward_keeps_its_owner_after_outside_memory(tmp_path):
    card = PRELOAD.parent / "simulated_card"
    finished = python(tmp_path, TAKEN_FIRST, MEMTRACE_CARD="1GiB", LD_LIBRARY_PATH=str(card))
    owners = {share["name"]: share["bytes"] for share in finished.report()["peak"]["by_owner"]}
    assert outside(finished) == {"device": 3 * MIB}
    assert set(owners) == {"policy"}, owners


def test_pinned_host_memory_is_listed(tmp_path):
    finished = python(tmp_path, PINNED, MEMTRACE_CARD="1GiB")
    assert outside(finished)["host"] >= MIB
    assert "train.py:3" in {row["site"] for row in finished.report()["outside"]}


MAPPED = """
import os, sys, torch
memory = {line.split()[0]: int(line.split()[1]) for line in open("/proc/meminfo")}
size = (memory["MemTotal:"] + memory["SwapTotal:"] + (1 << 20)) << 10
with open("checkpoint", "wb") as file:
    file.truncate(size)
print(torch.UntypedStorage.from_file("checkpoint", False, size)[size - 1])
"""


def test_oversized_checkpoint_can_be_mapped_on_a_simulated_card(tmp_path):
    if Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "2":
        pytest.skip("this machine never promises more memory than it has")
    assert python(tmp_path, MAPPED, MEMTRACE_CARD="1GiB").out.strip() == "0"
    assert "Cannot allocate memory" in python(tmp_path, MAPPED, expect=1).err


@pytest.mark.parametrize("option", ["-I", "-E", "-sIu", "-S"])
def test_isolated_python_is_reported_once_and_observed_from_outside(tmp_path, option):
    library = PRELOAD.parent / "simulated_card"
    finished = python(
        tmp_path, BY_CTYPES, option, MEMTRACE_CARD="1GiB", LD_LIBRARY_PATH=str(library), PYTHONNOUSERSITE="1"
    )
    lines = finished.err.splitlines()
    assert len(lines) == 1 and "python does not load memtrace with -" in lines[0]
    assert finished.report()["peak"]["bytes"] == 3 * MIB


def test_python_without_cuda_behaves_as_without_memtrace(tmp_path):
    script = "import os, sys; print(sys.flags, os.getcwd())"
    plain = python(tmp_path, script, preload=False)
    ours = python(tmp_path, script)
    assert (ours.out, ours.err) == (plain.out, plain.err)
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


def test_memtrace_is_loaded_only_with_torch(tmp_path):
    script = "import sys; print([name in sys.modules for name in ('memtrace', 'ctypes', 'torch')])"
    assert python(tmp_path, script).out.strip() == "[False, False, False]"
    script = "import memtrace, sys; print(memtrace.__file__.endswith('/memtrace/__init__.py'), 'torch' in sys.modules)"
    assert python(tmp_path, script).out.strip() == "True False"


@pytest.mark.parametrize("option", ["-I", "-E"])
def test_isolated_python_without_cuda_prints_nothing(tmp_path, option):
    assert python(tmp_path, "print(1)", option).err == ""


def test_switched_off_python_is_unaffected(tmp_path):
    script = "import json, os, sys; print(json.dumps([os.environ.get('PYTHONPATH'), 'memtrace' in sys.modules]))"
    assert json.loads(python(tmp_path, script, MEMTRACE="0").out) == [None, False]


def test_users_python_paths_follow_ours(tmp_path):
    script = "import os; print(os.environ['PYTHONPATH'])"
    paths = python(tmp_path, script, PYTHONPATH="/somewhere:/else").out.strip().split(":")
    assert paths[0].endswith("/memtrace/inject") and paths[1:] == ["/somewhere", "/else"]


def test_python_path_is_added_once_for_a_child_of_a_shell(tmp_path):
    script = (
        "import os, subprocess, sys\n"
        "command = f'{sys.executable} -c \"import os; print(os.environ[chr(80)+\\'YTHONPATH\\'])\"'\n"
        "print(subprocess.run(['sh', '-c', command], capture_output=True, text=True).stdout)\n"
    )
    assert python(tmp_path, script).out.strip().count("/memtrace/inject") == 1


# One thread holds the interpreter's lock while the other uses the driver.
WITHOUT_THE_LOCK = """
import ctypes, sys, threading
import torch
torch.empty(1 << 20, device="cuda")
keeping, giving_up = ctypes.PyDLL(sys.argv[1]), ctypes.CDLL(sys.argv[1])
told = []
other = threading.Thread(target=lambda: told.append(giving_up.probe_use_driver()))
other.start()
assert keeping.probe_hold() == 1, "the driver's calls wanted the interpreter's lock"
other.join()
assert told == [1], told
"""


@pytest.mark.parametrize("stacks", ["", "1"])
def test_no_driver_call_takes_the_interpreters_lock(tmp_path, stacks):
    script = WITHOUT_THE_LOCK.replace("sys.argv[1]", repr(str(PROBE)))
    finished = python(tmp_path, script, MEMTRACE_CARD="1GiB", MEMTRACE_NATIVE_STACKS=stacks)
    text = subprocess.run([TRACE_TEXT, finished.trace], capture_output=True, text=True, timeout=60, check=True).stdout
    assert text.count("kind=device") == 2 * 20  # the driver's memory was recorded, taken and given back
    assert "requested=209715200" in text


# Looks for a driver by its name and without torch, as CuPy, JAX and ONNX Runtime do.
ASKS = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
runtime = ctypes.CDLL("libcudart.so.13")
address = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(3 << 20)) == 0
"""


@pytest.mark.parametrize("package", ["cupy", "jax", "onnxruntime"])
def test_cuda_package_without_torch_gets_the_simulated_card(package, tmp_path):
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(ASKS)
    finished = under_run(tmp_path, f"import {package}, sys; assert 'torch' not in sys.modules")
    assert finished.report()["simulated"]["is_simulated"]
    assert "SIMULATED" in memtrace("report", str(finished.trace)).out.upper()


def test_cuda_package_may_be_imported_before_torch(tmp_path):
    (tmp_path / "cupy.py").write_text(ASKS)
    finished = under_run(tmp_path, "import cupy, torch; kept = torch.empty(5 << 20, dtype=torch.uint8, device='cuda')")
    assert finished.report()["peak"]["bytes"] >= 5 << 20
