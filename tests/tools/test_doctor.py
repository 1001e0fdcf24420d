# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""`memtrace doctor` on an installation, beside several kinds of torch."""

import pytest
from support.programs import memtrace


@pytest.fixture
def package(tmp_path):
    """Makes a package with a shim for 2.11, with the files that doctor reads."""
    folder = tmp_path / "memtrace"
    for file in (folder / "inject/sitecustomize.py", folder / "lib/torch-2.11/libmemtrace_torch.so"):
        file.parent.mkdir(parents=True)
        file.touch()
    return folder


def lines(package, version="", cuda=None, hip=None):
    """Returns doctor's output by the first word of its lines, beside a torch whose version.py has these values."""
    if version:
        torch = package.parent / "torch"
        torch.mkdir()
        words = f"__version__ = {version!r}\ncuda: Optional[str] = {cuda!r}\nhip: Optional[str] = {hip!r}\n"
        (torch / "version.py").write_text(words)
    said = memtrace("doctor", MEMTRACE_HOME=str(package))
    assert said.status == 0, said.err
    return {line[:12].strip(): line[12:] for line in said.out.splitlines() if line}


@pytest.mark.parametrize("version", ["2.11.0", "2.11.0+cu130", "2.11.1.post1"])
def test_release_with_a_shim_is_served(package, version):
    said = lines(package, version, "13.0")
    assert said["torch"] == f"{version}, built for CUDA 13.0"
    assert said["allocator"] == "memtrace's allocator serves this torch."


def test_missing_preload_library_is_reported(package):
    without = lines(package, "2.11.0", "13.0")["give way"]
    assert without.startswith("lib/libmemtrace_preload.so is missing, so the allocator cannot give free memory")
    (package / "lib/libmemtrace_preload.so").touch()
    said = memtrace("doctor", MEMTRACE_HOME=str(package)).out
    assert "is missing" not in said
    assert "After memtrace.enable() alone it cannot" in said


@pytest.mark.parametrize("version", ["2.11.0.dev20260101+cu130", "2.11.0a0+ecf3bae40a.nv26.01"])
def test_torch_that_is_not_a_release_keeps_its_allocator(package, version):
    assert lines(package, version, "13.0")["allocator"].startswith(
        "memtrace's allocator serves only releases of torch."
    )


def test_unsupported_minor_keeps_its_allocator(package):
    assert lines(package, "2.12.0", "13.0")["allocator"].startswith("memtrace's allocator serves torch 2.11. Programs")


@pytest.mark.parametrize(("hip", "built"), [("7.0", "built for AMD's ROCm 7.0"), (None, "built without CUDA")])
def test_torch_without_cuda_has_no_memory_to_serve(package, hip, built):
    said = lines(package, "2.11.0", None, hip)
    assert said["torch"] == f"2.11.0, {built}"
    assert said["allocator"] == "There is no CUDA memory to serve. Install a torch that is built for CUDA."


def test_package_without_torch_is_reported(package):
    said = lines(package)
    assert said["torch"] == "not installed beside the package"
    assert said["allocator"].endswith("Install memtrace where torch is installed.")
