# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A shim serves its torch built for any CUDA: the runtime functions that it calls are the same in all."""

import os
import re
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["MEMTRACE_BUILD"])
SHIMS = sorted(BUILD.glob("package/lib/torch-*/libmemtrace_torch.so"))
SOURCE = Path(__file__).parents[2]
MAJORS = ("12", "13")


def called(shim: Path) -> set[str]:
    """Returns the CUDA runtime functions that a shim expects in the process, without their symbol version."""
    listed = subprocess.run(
        ["nm", "-D", "--undefined-only", shim], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    return {name.split("@")[0] for name in re.findall(r" U (cuda\S+)", listed)}


def declarations(major: str) -> dict[str, str]:
    """Returns how the header of that major version declares each function."""
    header = BUILD.parent / "headers" / f"cuda-{major}" / "include" / "cuda_runtime_api.h"
    if not header.exists():
        pytest.skip(f"the headers of CUDA {major} are not there: setup/fetch_headers.py brings them")
    pattern = re.compile(r"^extern __host__ .*?CUDARTAPI (cuda\w+)\s*\(([^;]*)\);", re.M)
    return {name: " ".join(arguments.split()) for name, arguments in pattern.findall(header.read_text())}


@pytest.mark.parametrize("shim", SHIMS, ids=[shim.parent.name for shim in SHIMS])
def test_every_major_version_has_the_functions_of_the_shim(shim):
    names = called(shim)
    assert {"cudaMalloc", "cudaIpcOpenMemHandle"} <= names
    for major in MAJORS:
        table = SOURCE / "interpose/simulated_card/symbols/exports" / f"libcudart.so.{major}.txt"
        assert names <= set(table.read_text().split())


@pytest.mark.parametrize("shim", SHIMS, ids=[shim.parent.name for shim in SHIMS])
def test_every_major_version_declares_the_functions_of_the_shim_alike(shim):
    first, second = (declarations(major) for major in MAJORS)
    # The declaration of this function differs in 13, which proves that a difference would be detected.
    assert first["cudaMemPrefetchAsync"] != second["cudaMemPrefetchAsync"]
    for name in called(shim):
        assert first[name] == second[name], name
