# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that a wheel runs on every system of its tag (docs/design/wheel.md).

Usage: check_wheel.py WHEEL. Exit 0 if it does, 1 with one line per fault otherwise. It needs `readelf`, and the C and
C++ libraries of the machine that built the wheel.
"""

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

LIMITS: dict[str, str] = json.loads((Path(__file__).parent / "limits.json").read_text())
LARGEST = 40_000_000  # bytes
# Every Linux with glibc has these; PEP 600 allows a wheel to need them.
SYSTEM = {
    *("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"),
    *("ld-linux-x86-64.so.2", "libgcc_s.so.1", "libstdc++.so.6"),
}
# The libraries that a process already has when it loads one of ours: torch with its CUDA, or pyarrow.
OF_THE_PROCESS = {
    "libmemtrace_torch.so": re.compile(r"lib(c10|c10_cuda|torch|torch_cpu|torch_cuda)\.so"),
    "libmemtrace_parquet.so": re.compile(r"lib(arrow|parquet)\.so\.\d+"),
}

# Symbols linked statically, which must not meet the process's own: std, Abseil, SQLite, zstd, xxHash, zlib.
STATIC_PARTS = re.compile(r"_ZN?K?(St|4absl)|sqlite3_|ZSTD_|XXH|deflate|inflate")


@dataclass
class Elf:
    """The needs and the contents of a library or program."""

    name: str
    soname: str = ""
    needed: set[str] = field(default_factory=set)
    run_paths: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)  # of the needed symbols: GLIBC_2.2.5
    unversioned: set[str] = field(default_factory=set)  # needed names, of any library
    defined: set[str] = field(default_factory=set)


def _readelf(file: Path, *options: str) -> str:
    return subprocess.run(["readelf", "-W", *options, str(file)], capture_output=True, text=True, check=True).stdout


def read_elf(file: Path) -> Elf:
    """Returns the contents of a file's dynamic section and dynamic symbols."""
    elf = Elf(file.name)
    for tag, value in re.findall(r"\((NEEDED|SONAME|RPATH|RUNPATH)\).*\[(.*)\]", _readelf(file, "-d")):
        if tag == "SONAME":
            elf.soname = value
        elif tag == "NEEDED":
            elf.needed.add(value)
        else:
            elf.run_paths |= set(value.split(":"))
    for line in _readelf(file, "--dyn-syms").splitlines():
        column = line.split()
        if len(column) < 8 or not column[0].rstrip(":").isdigit():
            continue
        name, _, version = column[7].partition("@")
        if column[6] != "UND":
            elf.defined.add(name)
        elif version:
            elf.versions.add(version.lstrip("@"))
        elif column[4] != "WEAK":
            elf.unversioned.add(name)
    return elf


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in version.split("."))


@cache
def _names_of_this_machine() -> frozenset[str]:
    names: set[str] = set()
    for library in ("libc.so.6", "libm.so.6", "libstdc++.so.6"):
        path = subprocess.run(["cc", f"-print-file-name={library}"], capture_output=True, text=True, check=True).stdout
        names |= read_elf(Path(path.strip())).defined
    return frozenset(names)


def faults_of_file(elf: Elf, beside: Iterable[str] = ()) -> list[str]:
    """Returns the reasons why a file does not run on older systems. `beside` are the SONAMEs that come with it."""
    faults = []
    provided = OF_THE_PROCESS.get(elf.name)
    for needed in sorted(elf.needed - SYSTEM - set(beside)):
        if provided is None or not provided.fullmatch(needed):
            faults.append(f"needs {needed}, which is neither in the wheel nor on every system")
    for version in sorted(elf.versions):
        kind, _, numbers = version.rpartition("_")
        if kind in LIMITS and (not numbers[:1].isdigit() or _numbers(numbers) > _numbers(LIMITS[kind])):
            faults.append(f"needs {version}, which is newer than {kind}_{LIMITS[kind]}")
    faults += [
        f"needs {name}, which only the C or C++ library of the machine that built it has"
        for name in sorted(elf.unversioned & _names_of_this_machine())
    ]
    faults += [f"is looked for in {path}" for path in sorted(elf.run_paths) if not path.startswith("$ORIGIN")]
    if elf.soname.startswith("libmemtrace"):
        faults += [f"exports {name}" for name in sorted(filter(STATIC_PARTS.match, elf.defined))]
    return [f"{elf.name} {fault}" for fault in faults]


def faults_of_wheel(wheel: Path) -> list[str]:
    """Returns the faults of a wheel; nothing if it runs on every system of its tag."""
    faults = []
    size = wheel.stat().st_size
    if size > LARGEST:
        faults.append(f"{wheel.name} has {size:,} bytes, more than {LARGEST:,}")
    tag = f"py3-none-manylinux_{LIMITS['GLIBC'].replace('.', '_')}_x86_64.whl"
    if not wheel.name.endswith(tag):
        faults.append(f"{wheel.name} does not end with {tag}")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        files = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        elves = [read_elf(path) for path in files if path.read_bytes()[:4] == b"\x7fELF"]
    if not elves:
        faults.append(f"{wheel.name} has no library and no program")
    sonames = [elf.soname for elf in elves]
    return faults + [fault for elf in elves for fault in faults_of_file(elf, sonames)]


def main(wheel: str) -> int:
    """Prints the faults; returns the exit status."""
    faults = faults_of_wheel(Path(wheel))
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
