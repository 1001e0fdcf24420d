# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel in fresh environments, as on a machine without a compiler and without Debian's packages."""

import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.interpreters import MINORS, interpreter

TRAINING = """
import torch
from torch import nn

model = nn.Sequential(*(nn.Linear(4096, 4096) for _ in range(8))).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    model(torch.randn(64, 4096, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


class Environment:
    """A virtual environment with the wheel and nothing else."""

    def __init__(self, folder: Path, python: str, wheel: Path) -> None:
        self.bin = folder / "bin"
        subprocess.run([python, "-m", "venv", folder], check=True)
        began = time.monotonic()
        self.run("python", "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", str(wheel))
        print(f"installed in {time.monotonic() - began:.1f} s")

    def run(self, program: str, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Runs one of its programs, which find no other on PATH; fails unless the exit status is `status`."""
        done = subprocess.run(
            [self.bin / program, *arguments],
            env={"PATH": str(self.bin), "HOME": os.environ.get("HOME", "/")},
            cwd=self.bin.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("fresh"), sys.executable, wheel)


@pytest.fixture(scope="module")
def with_torch(wheel, tmp_path_factory) -> Environment:
    """An environment that can also import this environment's torch, as setup.sh's layer_on_base arranges it."""
    made = Environment(tmp_path_factory.mktemp("torch"), sys.executable, wheel)
    purelib = made.run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    below = [path for path in sys.path if path.endswith("-packages")]
    (Path(purelib) / "base.pth").write_text("\n".join(below) + "\n")
    assert purelib in made.run("python", "-c", "import memtrace; print(memtrace.__file__)").stdout
    return made


def test_program_prints_its_version(environment):
    assert environment.run("memtrace", "--version").stdout.strip().startswith("memtrace ")


def test_doctor_lists_what_is_installed(environment):
    said = environment.run("memtrace", "doctor").stdout
    assert "memtrace's allocator serves torch 2.5, 2.6, 2.7, 2.8, 2.9, 2.10, 2.11, 2.12, 2.13, 2.14, 2.15." in said
    assert "17 libraries stand in for CUDA 12, 13." in said


def test_man_pages_and_completions_are_installed(environment):
    share = environment.bin.parent / "share"
    assert (share / "man/man1/memtrace.1").is_file()
    assert (share / "zsh/site-functions/_memtrace").is_file()


def test_every_library_loads(environment):
    """Each library that needs neither torch nor pyarrow loads, with all its names bound at once."""
    script = """
import ctypes, pathlib, memtrace
folder = pathlib.Path(memtrace.__file__).parent / "lib"
others = ("libmemtrace_torch.so", "libmemtrace_parquet.so")
# The folder `link` has scripts for linkers.
found = sorted(p for p in folder.rglob("*.so*") if p.name not in others and p.parent.name != "link")
for library in found:
    ctypes.CDLL(str(library), mode=2)  # RTLD_NOW
print(len(found))
"""
    assert int(environment.run("python", "-c", script).stdout) >= 13


def test_parquet_names_the_required_pyarrow(environment, with_torch):
    version = ".".join(importlib.metadata.version("pyarrow").split(".")[:2])
    trace = run_out(with_torch)
    done = environment.run("memtrace", "export", "--to", "parquet", "-o", "out", str(trace), status=5)
    assert (
        f"Parquet needs pyarrow {version} in memtrace's environment: pip install 'pyarrow=={version}.*'" in done.stderr
    )


def run_out(environment: Environment) -> Path:
    """Returns the trace of a training for which a card of 2 GiB is too small."""
    folder = environment.bin.parent
    trace = folder / "run.trace"
    if not trace.exists():
        (folder / "train.py").write_text(TRAINING)
        done = environment.run(
            "memtrace", "run", "-q", "--card", "2GiB", "-o", "run.trace", "--", "python", "train.py", status=1
        )
        assert "torch.OutOfMemoryError: CUDA out of memory." in done.stderr
    return trace


def test_training_runs_out_and_is_reported(with_torch):
    trace = run_out(with_torch)
    report = json.loads(with_torch.run("memtrace", "report", "--json", str(trace)).stdout)
    assert report["verdict"]["cause"] == "capacity"
    assert report["card"]["bytes"] == 2 << 30
    parameters = 8 * (4096 * 4096 + 4096) * 4
    held = {row["name"]: row["bytes"] for row in report["peak"]["by_role"]}
    assert held["parameter"] == pytest.approx(parameters, rel=0.01)
    assert with_torch.run("memtrace", "report", str(trace)).stdout.count("OUT OF MEMORY") == 1
    with_torch.run("memtrace", "report", "-o", "page.html", str(trace))
    assert "<html" in (with_torch.bin.parent / "page.html").read_text()


@pytest.mark.parametrize("minor", MINORS)
def test_package_can_be_imported_by_each_python(wheel, tmp_path, minor):
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"no Python {minor} on this machine")
    made = Environment(tmp_path, python, wheel)
    made.run("python", "-c", "import memtrace; memtrace.simulated_card('24GiB')")
    assert made.run("memtrace", "--version").stdout.startswith("memtrace ")
