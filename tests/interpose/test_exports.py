# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries loaded into other programs export only our own names, and contain no path of this machine."""

import os
import re
import subprocess
from pathlib import Path

import pytest

PACKAGE = Path(os.environ["MEMTRACE_BUILD"]) / "package"
LIBRARIES = sorted(PACKAGE.rglob("*.so*"))
OURS = [library for library in LIBRARIES if library.name.startswith("libmemtrace")]


def output(*command: str | Path) -> str:
    """Returns the output of a binutils program."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def names(paths: list[Path]) -> list[str]:
    """Returns names for tests."""
    return [path.name for path in paths]


def test_core_and_shim_are_checked():
    assert {"libmemtrace.so", "libmemtrace_torch.so"} <= set(names(OURS))


@pytest.mark.parametrize("library", OURS, ids=names(OURS))
def test_only_our_names_are_exported(library):
    exported = [line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines()]
    assert exported
    if library.name == "libmemtrace_preload.so":
        return
    others = [name for name in exported if not name.startswith("memtrace_")]
    # The shim also exports an object of torch's, so that both share it: interpose/torch/exports.map.
    shared = [name for name in others if "CUDAAllocatorConfig8instanceEvE10s_instance" in name]
    assert others == shared and len(shared) == (2 if library.name == "libmemtrace_torch.so" else 0)


def test_preload_library_exports_its_list_and_needs_only_libc():
    library = PACKAGE / "lib/libmemtrace_preload.so"
    symbols = (Path(__file__).parents[2] / "interpose/preload/cuda_symbols.def").read_text()
    listed = set(re.findall(r"^MEMTRACE_CUDA_SYMBOL\((\w+),", symbols, re.M))
    exported = {line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines()}
    assert exported == listed | {"dlsym", "mmap", "mmap64"}
    # A portable build (docs/design/wheel.md) also names libraries that were once parts of the C library.
    former = ["libdl.so.2", "libpthread.so.0"] if (PACKAGE.parent / "stubs").is_dir() else []
    assert re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", library)) == ["libc.so.6", *former]


@pytest.mark.parametrize("library", LIBRARIES, ids=names(LIBRARIES))
def test_libraries_are_found_only_beside_each_other(library):
    dynamic = output("readelf", "-d", library)
    places = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
    assert all(place.startswith("$ORIGIN") for entry in places for place in entry.split(":"))
    assert not re.search(r"\(NEEDED\).*\[.*/", dynamic)
