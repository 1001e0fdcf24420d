# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The stand-ins export all that the installed torch, of any version, takes from CUDA, and all that its CUDA offers.

MEMTRACE_WHEELS names the site-packages of another environment, with another torch, to compare with instead; nothing of
it is loaded. A CUDA that fails here needs a list of its own:
interpose/simulated_card/symbols/exports/<soname>.added-<version>.txt.
"""

import os
import re
import subprocess
import sysconfig
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

SITE_PACKAGES = Path(os.environ.get("MEMTRACE_WHEELS", sysconfig.get_path("purelib")))
# The wheels of CUDA 12 have a folder for each library.
IS_CUDA_13 = (SITE_PACKAGES / "nvidia/cu13").exists()
DRIVER_HEADER = SITE_PACKAGES / ("nvidia/cu13/include/cuda.h" if IS_CUDA_13 else "nvidia/cuda_runtime/include/cuda.h")
RUNTIME = "libcudart.so.13" if IS_CUDA_13 else "libcudart.so.12"
COLLECTIVES = "libnccl.so.2"
STAND_INS = sorted((Path(os.environ["MEMTRACE_BUILD"]) / "package/lib/simulated_card").glob("*.so.*"))
DRIVER = "libcuda.so.1"
# The wheels' libraries that the card replaces; the driver and NVML are in no wheel.
REPLACED = [path for stand_in in STAND_INS for path in SITE_PACKAGES.glob(f"nvidia/*/lib/{stand_in.name}")]
names = pytest.mark.parametrize("stand_in", STAND_INS, ids=[path.name for path in STAND_INS])


def output(*command: str | Path) -> str:
    """Returns the output of a binutils program; a library that it cannot read is not one of torch's."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout


def exported(library: Path) -> set[str]:
    """Returns names with their version, for example `cudaMalloc@libcudart.so.13`."""
    lines = output("nm", "-D", "--defined-only", library).splitlines()
    return {fields[2].replace("@@", "@") for fields in map(str.split, lines) if fields[1] in "TW"}


@cache
def wheel_libraries() -> list[Path]:
    """Returns the libraries of torch and of NVIDIA's own wheels, including those of CUDA that the card replaces."""
    folders = [SITE_PACKAGES / "torch/lib", *SITE_PACKAGES.glob("nvidia/*/lib")]
    return [path for folder in folders for path in sorted(folder.glob("*.so*")) if path.is_file()]


@cache
def wanted() -> dict[str, dict[str, set[str]]]:
    """Returns, by soname, the names that the wheel's libraries take from it, and which library takes them.

    NVIDIA's libraries are recognized by a symbol's version, which is their soname. The symbols of the driver and NCCL
    have none: they are names like their functions', in a library that is linked with them.
    """
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for library in wheel_libraries():
        linked = output("readelf", "-d", library)
        for name in re.findall(r"^ +U (\S+)$", output("nm", "-D", "--undefined-only", library), re.M):
            if "@" in name:
                found[name.split("@")[1]][name].add(library.name)
            for soname, pattern in ((DRIVER, r"cu[A-Z]"), (COLLECTIVES, r"nccl[A-Z]")):
                if f"[{soname}]" in linked and re.match(pattern, name):
                    found[soname][name].add(library.name)
    return found


def declared_driver_functions() -> set[str]:
    """Returns the library's names of functions that the installed cuda.h declares: its macros rename some."""
    text = DRIVER_HEADER.read_text()
    declared = set(re.findall(r"\bCUDAAPI (cu[A-Z]\w+)\(", text))
    renamed = set(re.findall(r"^ *#define cu[A-Z]\w+ +(cu[A-Z]\w+)$", text, re.M))
    return (declared | renamed) - set(re.findall(r"^static inline CUresult (cu[A-Z]\w+)\(", text, re.M))


@names
def test_stand_in_has_everything_the_wheel_imports(stand_in):
    have = exported(stand_in)
    missing = {name: users for name, users in wanted()[stand_in.name].items() if name not in have}
    assert missing == {}


def test_wheel_imports_driver_and_runtime_functions():
    assert {"cuLaunchKernel", "cuModuleLoadData"} <= set(wanted()[DRIVER])
    assert {f"cudaMalloc@{RUNTIME}", f"cudaLaunchKernel@{RUNTIME}"} <= set(wanted()[RUNTIME])
    assert {"ncclAllReduce"} <= set(wanted()[COLLECTIVES])


@pytest.mark.parametrize("real", REPLACED, ids=[path.name for path in REPLACED])
def test_stand_in_exports_all_of_the_installed_library(real):
    (stand_in,) = [path for path in STAND_INS if path.name == real.name]
    offered = {name for name in exported(real) if "@" in name or not name.startswith("_")}
    assert offered
    assert offered - exported(stand_in) == set()


def test_libraries_of_the_wheels_are_compared():
    major = RUNTIME.rsplit(".")[-1]
    assert {RUNTIME, f"libcublas.so.{major}", f"libcublasLt.so.{major}"} <= {path.name for path in REPLACED}


def test_driver_exports_all_functions_of_the_installed_header():
    (stand_in,) = [path for path in STAND_INS if path.name == DRIVER]
    assert "cuMemAlloc_v2" in declared_driver_functions()
    assert declared_driver_functions() - exported(stand_in) == set()
