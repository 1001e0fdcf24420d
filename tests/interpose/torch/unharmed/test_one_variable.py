# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""MEMTRACE in the environment of any Python program does what `memtrace run` does (memtrace.pth)."""

import json
import os
import subprocess
import sys

import pytest
from support.programs import MEMTRACE

TOO_LARGE = """
import torch
kept = [torch.empty(200 << 20, dtype=torch.uint8, device="cuda")]
try:
    kept.append(torch.empty(900 << 20, dtype=torch.uint8, device="cuda"))
except torch.OutOfMemoryError as error:
    print(error)
"""


def python(folder, script, *options, **variables):
    (folder / "train.py").write_text(script)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTRACE", "PYTHON"))}
    return subprocess.run(
        [sys.executable, *options, "train.py"],
        cwd=folder,
        env=kept | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def facts(folder):
    (trace,) = folder.glob("memtrace-train.*.trace")
    told = subprocess.run([MEMTRACE, "report", "--json", trace], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(told.stdout)["run"]


def test_card_in_the_variable_is_used(tmp_path):
    done = python(tmp_path, TOO_LARGE, MEMTRACE="1GiB")
    assert done.returncode == 0, done.stderr
    assert "CUDA out of memory" in done.stdout and "memtrace report" in done.stdout
    run = facts(tmp_path)
    assert run["card"] == "1GiB" and run["allocator"] == "memtrace"


def test_observe_leaves_torchs_allocator_and_explains_its_error(tmp_path):
    done = python(tmp_path, TOO_LARGE, MEMTRACE="observe", MEMTRACE_CARD="1GiB")
    assert done.returncode == 0, done.stderr
    torchs, _, ours = done.stdout.partition("\nmemtrace: ")
    assert "is reserved by PyTorch but unallocated" in torchs
    assert "900.00 MiB" in torchs and "memtrace report" in ours
    assert facts(tmp_path)["allocator"] == "native"


def test_out_of_memory_errors_of_the_program_keep_their_text(tmp_path):
    script = 'import torch\nprint(repr(torch.OutOfMemoryError("mine")), repr(torch.OutOfMemoryError("a", 1)))'
    done = python(tmp_path, script, MEMTRACE="observe", MEMTRACE_CARD="1GiB")
    assert done.stdout.strip() == "OutOfMemoryError('mine') OutOfMemoryError('a', 1)"


@pytest.mark.parametrize("value", [None, "", "0"])
def test_memtrace_is_not_loaded_without_the_variable(tmp_path, value):
    script = (
        "import sys\nprint([name for name in [*sys.modules, *sys.path] if 'memtrace' in name and 'pytest' not in name])"
    )
    done = python(tmp_path, script, **({} if value is None else {"MEMTRACE": value}))
    assert done.stdout.strip() == "[]", done.stderr


def test_invalid_value_is_rejected_before_torch_is_imported(tmp_path):
    done = python(tmp_path, "import torch\nprint('imported')", MEMTRACE="plenty")
    assert done.returncode == 5 and "imported" not in done.stdout
    assert "plenty" in done.stderr and "observe" in done.stderr and "Traceback" not in done.stderr


def test_program_without_torch_is_unaffected(tmp_path):
    done = python(tmp_path, "print('done')", MEMTRACE="1")
    assert done.stdout == "done\n" and not done.stderr


def test_variable_works_in_an_isolated_interpreter(tmp_path):
    done = python(tmp_path, TOO_LARGE, "-I", MEMTRACE="1GiB")
    assert "memtrace report" in done.stdout, done.stderr
