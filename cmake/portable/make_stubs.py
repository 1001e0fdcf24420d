# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the libraries that a portable build is linked against (docs/design/wheel.md).

Usage: make_stubs.py CC OUTPUT LIMITS.json. For each library of this machine's C and C++ run time, writes a stub: a
library of the same SONAME that has the symbols of the limits' versions and no code. Programs linked against it can only
refer to those symbols, and so run with every newer version of the library. Beside the stubs are the files that the
compiler driver looks for: libc.so and libstdc++.so, which add the statically linked parts, and the start code.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
# Before glibc 2.34 these were outside libc.so.6. A symbol that moved has a version of that time beside its old one, or
# only one that new programs do not get. (Compared with the lists of `zig cc -target x86_64-linux-gnu.2.28`:
# docs/design/wheel.md.)
MOVED = re.compile(r"GLIBC_2\.(29|3[0-4])$")
FORMER_HOMES = [
    (re.compile(r"_*(pthread_|sem_)|(call_once|cnd_|mtx_|thrd_|tss_)"), "libpthread.so.0"),
    (re.compile(r"dl"), "libdl.so.2"),
    (re.compile(r"_*(aio_|lio_|mq_|shm_|timer_)"), "librt.so.1"),
    (re.compile(r"openpty|forkpty|login|logout|logwtmp"), "libutil.so.1"),
    (
        re.compile(r"gai_|getaddrinfo_a|_*res_|ns_name_|_*dn_"),
        None,
    ),  # of libresolv and libanl, which nothing here needs
]


class Symbol(NamedTuple):
    """A defined dynamic symbol."""

    name: str
    version: str
    address: int
    size: int
    kind: str  # FUNC, OBJECT, TLS ...
    weak: bool
    is_default: bool  # the version that a new program gets


def as_numbers(version: str) -> tuple[int, ...]:
    """Returns the numbers of GLIBC_2.2.5, for comparisons."""
    return tuple(int(n) for n in version.rpartition("_")[2].split("."))


def read_symbols(library: str) -> list[Symbol]:
    """Returns all versioned symbols that a library defines."""
    text = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    symbols = []
    for line in text.splitlines():
        field = line.split()
        if len(field) != 8 or field[6] in ("UND", "ABS") or "@" not in field[7]:
            continue
        name, version = re.split("@+", field[7])
        is_default = "@@" in field[7]
        weak = field[4] == "WEAK"
        symbols.append(Symbol(name, version, int(field[1], 16), int(field[2], 0), field[3], weak, is_default))
    return symbols


def is_within(version: str, limits: dict[str, str]) -> bool:
    """True if a version node is of one of the limits' kinds and not newer."""
    kind, _, numbers = version.rpartition("_")
    if kind not in limits or re.fullmatch(r"[\d.]+", numbers) is None:
        return False
    return as_numbers(version) <= as_numbers(limits[kind])


def choose(symbols: list[Symbol], limits: dict[str, str]) -> dict[str, Symbol]:
    """Returns the newest version of each symbol within the limits."""
    within = [symbol for symbol in symbols if is_within(symbol.version, limits)]
    return {symbol.name: symbol for symbol in sorted(within, key=lambda symbol: as_numbers(symbol.version))}


def assembly(symbols: list[Symbol]) -> str:
    """Returns the stub's source.

    Names of one address keep one address, so that a program's copy of `environ` is also its `__environ`.
    """
    lines = []
    places = defaultdict(list)
    for symbol in symbols:
        places[(symbol.kind, symbol.address)].append(symbol)
    for (kind, _), names in sorted(places.items()):
        section = {"OBJECT": '.section .data,"aw"', "TLS": '.section .tdata,"awT"'}.get(kind, '.section .text,"ax"')
        kind_name = {"OBJECT": "object", "TLS": "tls_object"}.get(kind, "function")
        lines.append(f"{section}\n.balign 32")
        for symbol in names:
            lines.append(f'.{"weak" if symbol.weak else "globl"} "{symbol.name}"')
            lines.append(f'.type "{symbol.name}", @{kind_name}\n.size "{symbol.name}", {symbol.size}\n"{symbol.name}":')
        lines.append(f".zero {max(1, max(symbol.size for symbol in names) if kind in ('OBJECT', 'TLS') else 1)}")
    lines.append('.section .note.GNU-stack,"",@progbits')
    return "\n".join(lines) + "\n"


def version_script(symbols: list[Symbol]) -> str:
    """Returns the stub's version nodes."""
    nodes = defaultdict(list)
    for symbol in symbols:
        nodes[symbol.version].append(symbol.name)
    text = ""
    for version, names in sorted(nodes.items()):
        quoted = " ".join(f'"{name}";' for name in sorted(names))
        text += f"{version} {{ global: {quoted} }};\n"
    return text


def build_stub(compiler: str, folder: Path, soname: str, symbols: list[Symbol]) -> None:
    """Writes the stub of one library into the folder."""
    source, script = folder / f"{soname}.s", folder / f"{soname}.map"
    source.write_text(assembly(symbols))
    script.write_text(version_script(symbols))
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{soname}", f"-Wl,--version-script,{script}", "-Wl,--build-id=none"]
    subprocess.run([compiler, *options, "-o", str(folder / soname), str(source)], check=True)


def former_home(symbol: Symbol, stayed: set[str]) -> str | None:
    """Returns the library that had a symbol of today's libc.so.6 at the time of the limits."""
    if symbol.name not in stayed:
        for names, home in FORMER_HOMES:
            if names.match(symbol.name):
                return home
    return "libc.so.6"


def stub_c_library(compiler: str, folder: Path, library: str, limits: dict[str, str]) -> list[str]:
    """Writes stubs of libc.so.6 and of the libraries that were merged into it; returns their names."""
    everything = read_symbols(library)
    moved = {symbol.name for symbol in everything if MOVED.match(symbol.version)}
    stayed = {symbol.name for symbol in everything if symbol.is_default} - moved
    homes = defaultdict(list)
    for symbol in choose(everything, limits).values():
        home = former_home(symbol, stayed)
        if home is not None:
            homes[home].append(symbol)
    for soname, symbols in homes.items():
        build_stub(compiler, folder, soname, symbols)
    return sorted(homes)


def find_library(compiler: str, name: str) -> str:
    """Returns the path of a library that the compiler links."""
    found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return str(Path(found.stdout.strip()).resolve())


def build_static_parts(compiler: str, folder: Path) -> None:
    """Compiles the functions that older versions of the C library lack, and the start code of programs."""
    options = ["-O2", "-fPIC", "-fvisibility=hidden", "-fno-lto", "-Wall", "-Wextra", "-Werror", "-c"]
    for source, output in (("newer_functions.c", "newer_functions.o"), ("program_start.c", "Scrt1.o")):
        subprocess.run([compiler, *options, "-o", str(folder / output), str(HERE / source)], check=True)
    archive = folder / "libnewer_functions.a"
    archive.unlink(missing_ok=True)
    subprocess.run(["ar", "rcs", str(archive), str(folder / "newer_functions.o")], check=True)


def main(compiler: str, output: str, limits_file: str) -> None:
    """Writes everything into the output folder."""
    folder = Path(output).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    limits = {kind: f"{kind}_{numbers}" for kind, numbers in json.loads(Path(limits_file).read_text()).items()}
    in_libc = stub_c_library(compiler, folder, find_library(compiler, "libc.so.6"), limits)
    for soname in ("libm.so.6", "ld-linux-x86-64.so.2", "libgcc_s.so.1", "libstdc++.so.6"):
        symbols = choose(read_symbols(find_library(compiler, soname)), limits)
        build_stub(compiler, folder, soname, list(symbols.values()))
    build_static_parts(compiler, folder)
    others = " ".join(str(folder / name) for name in [*in_libc, "ld-linux-x86-64.so.2"] if name != "libc.so.6")
    nonshared = find_library(compiler, "libc_nonshared.a")
    (folder / "libc.so").write_text(
        f"GROUP({folder}/libc.so.6 {folder}/libnewer_functions.a {nonshared} AS_NEEDED({others}))\n"
    )
    (folder / "libm.so").write_text(f"INPUT({folder}/libm.so.6)\n")
    (folder / "libgcc_s.so").write_text(f"GROUP({folder}/libgcc_s.so.1 -lgcc)\n")
    static = find_library(compiler, "libstdc++.a")
    (folder / "libstdc++.so").write_text(f"GROUP({folder}/libstdc++.so.6 {static})\n")
    for soname in in_libc:
        if soname != "libc.so.6":
            (folder / f"{soname.partition('.')[0]}.so").write_text(f"INPUT(AS_NEEDED({folder}/{soname}))\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
