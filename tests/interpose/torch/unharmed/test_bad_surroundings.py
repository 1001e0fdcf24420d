# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Problems around a run cost one sentence, never the user's job; only a card that is not available ends it."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import pytest
from support.programs import MEMTRACE, memtrace, on_card

# The torch of this environment, in which memtrace was built.
BUILT_FOR = ".".join(metadata.version("torch").split(".")[:2])

ALLOCATES = """
import torch
kept = [torch.empty(1 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]
print("done")
"""


def fake_torch(folder, version, cuda, hip=None):
    """Makes a package that is torch only by name: memtrace reads its version before it is imported."""
    package = folder / "elsewhere" / "torch"
    package.mkdir(parents=True)
    (package / "version.py").write_text(f"__version__ = '{version}'\ncuda = {cuda!r}\nhip = {hip!r}\n")
    (package / "__init__.py").write_text("from torch import version\n__version__ = version.__version__\n")
    (folder / "train.py").write_text("import torch\nprint('imported', torch.__version__)\n")
    return str(package.parent)


@pytest.mark.parametrize(
    ("version", "cuda", "sentence"),
    [
        ("2.6.0+cu118", "11.8", "torch 2.6.0+cu118 was built for CUDA 11.8. Install torch"),
        ("2.99.0+cu140", "14.0", "torch 2.99.0+cu140 was built for CUDA 14.0. Install torch"),
        ("2.11.0+cpu", None, "torch 2.11.0+cpu was built without CUDA. Install torch"),
    ],
)
def test_torch_without_card_support_ends_the_run_with_one_sentence(tmp_path, version, cuda, sentence):
    places = fake_torch(tmp_path, version, cuda)
    run = on_card(tmp_path / "train.py", tmp_path, expect=5, PYTHONPATH=places)
    assert sentence in run.err and "Traceback" not in run.err


@pytest.mark.parametrize(("cuda", "own", "other"), [("12.8", "12", "13"), ("13.0", "13", "12")])
def test_card_matches_the_cuda_of_torch(tmp_path, cuda, own, other):
    if not (Path(inject_folder()).parent / "lib" / "simulated_card" / f"libcudart.so.{own}").exists():
        pytest.skip(f"this installation was built without the headers of CUDA {own}")
    places = fake_torch(tmp_path, "2.99.0", cuda)
    (tmp_path / "train.py").write_text("import torch\nprint(open('/proc/self/maps').read())\n")
    run = on_card(tmp_path / "train.py", tmp_path, PYTHONPATH=places)
    assert f"/libcudart.so.{own}" in run.out and f"/libcublas.so.{own}" in run.out
    assert f"/libcudart.so.{other}" not in run.out


@pytest.mark.parametrize(
    ("version", "cuda", "hip", "sentence"),
    [
        ("2.99.0", "13.0", None, "torch 2.99.0 is not one that this memtrace supports ("),
        (
            f"{BUILT_FOR}.0.dev20260101+cu130",
            "13.0",
            None,
            "is not a release, and memtrace supports only releases of torch",
        ),
        (
            f"{BUILT_FOR}.0a0+ecf3bae40a.nv26.01",
            "13.0",
            None,
            "is not a release, and memtrace supports only releases of torch",
        ),
        ("2.11.0+cpu", None, None, "torch 2.11.0+cpu is a CPU-only build, so there is no CUDA memory to record."),
        (
            "2.11.0+rocm7.0",
            None,
            "7.0",
            "torch 2.11.0+rocm7.0 is built for AMD's ROCm, but memtrace records only CUDA memory.",
        ),
    ],
)
def test_unknown_torch_runs_unrecorded(tmp_path, version, cuda, hip, sentence):
    places = fake_torch(tmp_path, version, cuda, hip)
    done = subprocess.run(
        [str(MEMTRACE), "run", "--", sys.executable, str(tmp_path / "train.py")],
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0 and f"imported {version}" in done.stdout
    assert sentence in done.stderr


def test_cuda_in_ld_library_path_does_not_replace_the_card(tmp_path):
    other = tmp_path / "cuda" / "lib64"
    other.mkdir(parents=True)
    for library in ("libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libcublas.so.13", "libcudnn.so.9"):
        (other / library).write_bytes(b"not a library, so that loading it would fail")
    run = on_card(ALLOCATES, tmp_path, LD_LIBRARY_PATH=str(other))
    assert run.out.strip() == "done"
    assert run.stats()["devices"][0]["allocated"] == 4 << 20


TOO_LARGE = """
import torch
kept = torch.empty(200 << 20, dtype=torch.uint8, device="cuda")
torch.empty(900 << 20, dtype=torch.uint8, device="cuda")
"""


def test_torch_without_a_shim_dumps_a_history_for_report(tmp_path):
    package = tmp_path / "memtrace"
    shutil.copytree(os.path.dirname(inject_folder()), package, ignore=shutil.ignore_patterns("torch-*", ".debug"))
    (tmp_path / "train.py").write_text(TOO_LARGE)
    done = subprocess.run(
        [sys.executable, "train.py"],
        env={**os.environ, "PYTHONPATH": str(package / "inject"), "MEMTRACE_CARD": "1GiB"},
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 1 and "OutOfMemoryError" in done.stderr
    assert "torch's history of its memory is recorded" in done.stderr
    (dump,) = tmp_path.glob("memtrace-train.*.pickle")
    report = json.loads(memtrace("report", "--json", str(dump)).out)
    assert report["request"]["bytes"] == 900 << 20
    assert report["peak"]["bytes"] == 200 << 20


def test_unwritable_trace_is_reported_once_and_the_program_continues(tmp_path):
    (tmp_path / "train.py").write_text(ALLOCATES)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "train.py")],
        env={
            **os.environ,
            "PYTHONPATH": str(inject_folder()),
            "MEMTRACE_CARD": "1GiB",
            "MEMTRACE_OUTPUT": str(tmp_path / "missing" / "run.trace"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and "done" in done.stdout
    assert done.stderr.count("memtrace:") == 1 and "missing/run.trace" in done.stderr


def inject_folder():
    import memtrace

    return os.path.join(os.path.dirname(memtrace.__file__), "inject")


@pytest.mark.skipif(os.getuid() != 0, reason="a full disk is a small tmpfs, and mounting one needs root")
def test_full_disk_stops_only_the_recording(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)], check=False, timeout=30)
    if mounted.returncode != 0:
        pytest.skip("a full disk is a small tmpfs, and this machine may not mount one")
    try:
        script = """
import torch
for n in range(200_000):
    torch.empty(512 + n % 4096, dtype=torch.uint8, device="cuda")
print("done")
"""
        run = on_card(script, disk)
        assert "done" in run.out
        assert run.report()["lost"]["events"] > 0
    finally:
        subprocess.run(["umount", str(disk)], check=False, timeout=30)


def test_memtrace_0_disables_everything(tmp_path):
    script = "import sys, os\nprint('memtrace._core' in sys.modules)"
    run = on_card(script, tmp_path, MEMTRACE="0")
    assert run.out.strip() == "False" and not run.trace.exists()


def test_trace_of_a_killed_process_is_readable(tmp_path):
    script = """
import torch
while True:
    kept = [torch.empty(n * 1000, dtype=torch.uint8, device="cuda") for n in range(1, 50)]
    print("round", flush=True)
"""
    (tmp_path / "train.py").write_text(script)
    chance = random.Random(7)
    for attempt in range(3):
        trace = tmp_path / f"{attempt}.trace"
        with subprocess.Popen(
            [sys.executable, str(tmp_path / "train.py")],
            env={
                **os.environ,
                "PYTHONPATH": str(inject_folder()),
                "MEMTRACE_CARD": "1GiB",
                "MEMTRACE_OUTPUT": str(trace),
            },
            stdout=subprocess.PIPE,
        ) as program:
            program.stdout.readline()
            time.sleep(chance.random() / 10)
            program.send_signal(signal.SIGKILL)
        read = memtrace("stats", "--json", str(trace))
        assert read.status in (0, 4), read.err
        assert json.loads(read.out)["devices"][0]["reserved"] > 0


def test_workers_forked_before_cuda_write_no_trace(tmp_path):
    script = """
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(64.0)), batch_size=8, num_workers=2)
kept = [batch[0].to("cuda") for batch in loader]
for batch in loader:  # forked again, now that CUDA is in use
    kept.append(batch[0].to("cuda"))
print(len(kept))
"""
    run = on_card(script, tmp_path)
    assert run.out.strip() == "16"
    assert [p.name for p in tmp_path.glob("*.trace*")] == ["run.trace"]


def test_second_process_of_a_run_writes_its_own_trace(tmp_path):
    script = """
import os, subprocess, sys
import torch
kept = torch.empty(1, device="cuda")
if len(sys.argv) == 1:
    subprocess.run([sys.executable, sys.argv[0], "child"], check=True, timeout=100)
"""
    run = on_card(script, tmp_path)
    siblings = sorted(p.name for p in tmp_path.glob("run.trace.*"))
    assert len(siblings) == 1
    assert run.stats()["devices"][0]["allocated"] == 512
