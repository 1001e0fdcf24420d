# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel needs nothing that a system of its tag may lack, and a file that does is detected."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import check_wheel
import pytest
import torch
from support.corpus import ROOT

# The process that loads these has them already (check_wheel.OF_THE_PROCESS).
OF_TORCH_OR_PYARROW = re.compile(r"lib(c10|c10_cuda|torch_cpu|arrow|parquet)\.so(\.\d+)?")
TAG = f"manylinux_{check_wheel.LIMITS['GLIBC'].replace('.', '_')}_x86_64"
USES_TODAYS_LIBRARIES = """
#include <sys/stat.h>
#include <filesystem>
extern "C" bool memtrace_test(const char* path) {
  struct stat found;
  return stat(path, &found) == 0 && std::filesystem::exists(path);
}
"""


def compile_library(folder: Path, source: str, *options: str) -> Path:
    """Compiles a library as any build on this machine does."""
    (folder / "source.cc").write_text(source)
    output = folder / "libmemtrace_test.so"
    subprocess.run(
        ["c++", "-std=c++20", "-shared", "-fPIC", "-O1", folder / "source.cc", "-o", output, *options], check=True
    )
    return output


def faults_of(library: Path) -> str:
    return "\n".join(check_wheel.faults_of_file(check_wheel.read_elf(library)))


def newest(kind: str, elf: check_wheel.Elf) -> tuple[int, ...]:
    """Returns the newest version of a kind that a file needs; (0,) if it needs none."""
    versions = [version.rpartition("_") for version in elf.versions]
    return max((tuple(map(int, n.split("."))) for k, _, n in versions if k == kind and n[:1].isdigit()), default=(0,))


def test_wheel_has_no_faults(wheel):
    assert check_wheel.faults_of_wheel(wheel) == []


def test_wheel_has_all_parts(wheel):
    names = {name.removeprefix(f"{wheel.name.split('-py3')[0]}.data/") for name in zipfile.ZipFile(wheel).namelist()}
    assert {"memtrace/lib/libmemtrace.so", "memtrace/lib/libmemtrace_preload.so", "scripts/memtrace"} <= names
    assert {"data/share/man/man1/memtrace.1", "memtrace/lib/simulated_card/libcuda.so.1"} <= names
    assert any(re.fullmatch(r"memtrace/lib/torch-[\d.]+/libmemtrace_torch\.so", name) for name in names)
    assert "data/share/zsh/site-functions/_memtrace" in names


def test_wheel_has_the_package_with_all_its_folders(wheel):
    package = ROOT / "interpose" / "python" / "memtrace"
    sources = {f"memtrace/{file.relative_to(package)}" for file in package.rglob("*.py")}
    assert len({Path(name).parent for name in sources}) > 1
    assert sources - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_auditwheel_confirms_the_platform_tag(wheel):
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", "--json", wheel], capture_output=True, text=True, check=True
    )
    shown = json.loads(done.stdout)
    # By its symbols it may run on even older systems; its other libraries come with torch or pyarrow.
    assert [int(n) for n in re.findall(r"_(\d+)", shown["sym_tag"])[:2]] <= [2, 28]
    assert [name for name in shown["external_libs"] if not OF_TORCH_OR_PYARROW.fullmatch(name)] == []
    assert not shown["unsupported_isa"]


def test_auditwheel_gives_the_tag_without_host_libraries(wheel):
    from auditwheel.wheel_abi import analyze_wheel_abi
    from auditwheel.wheeltools import get_wheel_architecture, get_wheel_libc

    excluded = frozenset({"libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libarrow.so.*", "libparquet.so.*"})
    found = analyze_wheel_abi(
        get_wheel_libc(wheel.name),
        get_wheel_architecture(wheel.name),
        wheel,
        excluded,
        disable_isa_ext_check=False,
        allow_graft=False,
    )
    assert found.overall_policy.name.startswith("manylinux")
    assert not found.overall_policy < next(policy for policy in found.policies if policy.name == TAG)


def test_limits_do_not_exceed_torchs():
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    elf = check_wheel.read_elf(library)
    # torch needs the versions of its own tag: 2.28. It needs a C++ library no newer than ours may need.
    for kind in ("GLIBC", "CXXABI"):
        assert tuple(map(int, check_wheel.LIMITS[kind].split("."))) <= newest(kind, elf)


def test_library_that_needs_newer_c_and_cpp_libraries_is_rejected(tmp_path):
    faults = faults_of(compile_library(tmp_path, USES_TODAYS_LIBRARIES))
    assert "needs GLIBC_2.33, which is newer than GLIBC_2.28" in faults
    assert "needs GLIBCXX_3.4.26, which is newer than GLIBCXX_3.4.24" in faults


def test_library_that_needs_a_system_library_is_rejected(tmp_path):
    source = 'extern "C" int sqlite3_initialize(); extern "C" int memtrace_test() { return sqlite3_initialize(); }'
    faults = faults_of(compile_library(tmp_path, source, "-l:libsqlite3.so.0"))
    assert "needs libsqlite3.so.0, which is neither in the wheel nor on every system" in faults


def test_symbol_missing_from_all_stubs_is_rejected(tmp_path):
    source = 'extern "C" int gettid(); extern "C" int memtrace_test() { return gettid(); }'
    faults = faults_of(compile_library(tmp_path, source, "-nostdlib"))
    assert "needs gettid, which only the C or C++ library of the machine that built it has" in faults


def test_exported_static_library_is_rejected(tmp_path):
    faults = faults_of(
        compile_library(tmp_path, 'extern "C" int sqlite3_open() { return 0; }', "-Wl,-soname,libmemtrace_test.so")
    )
    assert "exports sqlite3_open" in faults


def test_wheel_with_another_tag_is_rejected(tmp_path):
    other = tmp_path / "memtrace-0.1.0-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("memtrace/__init__.py", "")
    faults = check_wheel.faults_of_wheel(other)
    assert f"{other.name} does not end with py3-none-{TAG}.whl" in faults
    assert f"{other.name} has no library and no program" in faults


@pytest.mark.parametrize("size", [check_wheel.LARGEST + 1])
def test_wheel_that_is_too_large_is_rejected(tmp_path, size):
    large = tmp_path / f"memtrace-0.1.0-py3-none-{TAG}.whl"
    with zipfile.ZipFile(large, "w") as archive:
        archive.writestr("memtrace/data", bytes(size))
    assert any("more than" in fault for fault in check_wheel.faults_of_wheel(large))
