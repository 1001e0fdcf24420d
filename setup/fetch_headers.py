# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Fetches headers: fetch_headers.py FOLDER [NAME ...].

It fetches the headers of torch's minors and of CUDA's majors into FOLDER (the build has build/headers), without the
gigabytes of libraries that an environment with torch has. Each `headers/NAME.lock` beside this script pins the
download, by version and hash; its headers are then in FOLDER/NAME/include. Without a NAME all are fetched. Headers that
are already there, of the same lock file, are kept.

A minor's headers come from its wheel for macOS (60 to 80 MB), which also contains c10/cuda; the one for Linux has the
same and a GB of kernels.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LOCKS = Path(__file__).parent / "headers"
STAMP = "fetched.lock"
# The platforms that pip accepts, by package: the wheels for any of them have the same headers.
PLATFORMS = {
    "torch": ["macosx_11_0_arm64", "macosx_12_0_arm64", "macosx_14_0_arm64"],
    "cuda": [f"manylinux_2_{minor}_x86_64" for minor in range(5, 29)],
}
# The parts of torch's include folder that the shims use; the rest belongs to libraries that torch is built from.
USED_OF_TORCH = ("ATen", "c10", "torch")


def download(lock: Path, into: Path) -> list[Path]:
    """Downloads the wheels that `lock` pins; raises SystemExit with pip's message if that fails."""
    platforms = PLATFORMS[lock.stem.split("-")[0]]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary=:all:", "--python-version=3.12", f"--dest={into}"]
    command += [f"--platform={platform}" for platform in platforms] + ["--requirement", str(lock)]
    finished = subprocess.run(command, check=False, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"fetch_headers: the packages of {lock} cannot be downloaded: {finished.stderr.strip()}")
    return sorted(into.glob("*.whl"))


def place_in_include(name: str) -> str | None:
    """Returns the place of a wheel's file below the include folder; None if it is not a header."""
    before, found, place = name.partition("/include/")
    if not found or name.endswith("/") or name.endswith(".py"):
        return None
    if before == "torch" and place.split("/")[0] not in USED_OF_TORCH:
        return None
    # CUDA 13 has these in a folder of their own, which nvcc puts on its path.
    return place.removeprefix("cccl/")


def unpack(wheel: Path, include: Path) -> None:
    """Writes the headers of `wheel` below `include`."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            place = place_in_include(name)
            if place is None:
                continue
            file = include / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(name))


def fetch(lock: Path, folder: Path) -> None:
    """Makes FOLDER/NAME complete for `lock`. An incomplete one is made again."""
    target = folder / lock.stem
    stamp = target / STAMP
    if stamp.exists() and stamp.read_bytes() == lock.read_bytes():
        return
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        for wheel in download(lock, Path(scratch)):
            unpack(wheel, target / "include")
    shutil.copy(lock, stamp)


def main() -> None:
    """Fetches the headers that the command line names."""
    if len(sys.argv) < 2:
        sys.exit("usage: fetch_headers.py FOLDER [NAME ...]")
    folder = Path(sys.argv[1])
    known = {lock.stem: lock for lock in sorted(LOCKS.glob("*.lock"))}
    for name in sys.argv[2:] or known:
        if name not in known:
            sys.exit(f"fetch_headers: there is no {LOCKS}/{name}.lock. Give one of {', '.join(known)}.")
        fetch(known[name], folder)


if __name__ == "__main__":
    main()
