# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources that changed since they last passed, because it takes seconds per file.

usage: tidy.py BUILD JOBS [--quick]

--quick is for `make test`. It checks only changes since the commit that cmake/tidied_commit.txt names: each changed
source, and for each changed header one source that includes it. It also leaves out clang's static analyzer, which takes
as long as all other checks together. At the commit in that file every source passed the quick checks (after a change of
a .clang-tidy all sources below it are checked). `make lint` and `make test-all` check every source with every check.

The clang-tidy is the one beside this Python, of the version in the lock file. A source counts as checked while its
text, every header of ours that it includes, its command line, its .clang-tidy files and that version are unchanged.
Exit code 1 if a check fails.
"""

import hashlib
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

ROOT = Path.cwd()
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
JOINED = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")  # how CMake names what it joins
OF_GCC = re.compile(r" -Winvalid-pch| -include \S*cmake_pch\.hxx| --param \S+")
# The compiler is GCC: its own warning switches are unknown to clang.
DEEP = [str(Path(sys.executable).with_name("clang-tidy")), "--quiet", "--extra-arg=-Wno-unknown-warning-option"]
# Without the analyzer, libstdc++'s own use of deprecated functions (std::stable_sort) is reported as an error.
QUICK = [*DEEP, "--checks=-clang-analyzer-*", "--extra-arg=-Wno-deprecated-declarations"]


class CompileCommand(TypedDict):
    """An entry of compile_commands.json."""

    directory: str
    command: str
    file: str
    output: str


def tracked(pattern: str) -> set[Path]:
    """Returns the repository's files of this pattern, including new ones."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern],
        capture_output=True,
        text=True,
        check=True,
    )
    return {ROOT / line for line in listed.stdout.splitlines()}


class Includes:
    """Which headers of ours a source includes, directly or through others, read from the text: ours are in quotes."""

    def __init__(self) -> None:
        self._own = tracked("*.h")
        self._direct: dict[Path, set[Path]] = {}

    def of(self, source: Path) -> list[Path]:
        """Returns them in no particular order."""
        found: set[Path] = set()
        new = self._of_one(source)
        while new:
            found |= new
            new = {inner for header in new for inner in self._of_one(header)} - found
        return list(found)

    def _of_one(self, file: Path) -> set[Path]:
        if file not in self._direct:
            places = [folder / name for name in INCLUDE.findall(file.read_text()) for folder in (ROOT, file.parent)]
            self._direct[file] = {place for place in places if place in self._own}
        return self._direct[file]


def plain_units(build: Path, folder: Path) -> list[CompileCommand]:
    """Returns a compile command for each source, without what only GCC knows; also writes them into `folder`.

    The build compiles several sources at a time (MemtraceUnity.cmake). Alone, and without precompiled headers, a source
    that forgets an include is found as well.
    """
    built: list[CompileCommand] = json.loads((build / "compile_commands.json").read_text())
    units = [alone for unit in built for alone in of_each_source(unit)]
    for unit in units:
        unit["command"] = OF_GCC.sub("", unit["command"])
    (folder / "compile_commands.json").write_text(json.dumps(units))
    return units


def of_each_source(unit: CompileCommand) -> list[CompileCommand]:
    """Returns the command of each source that a unit is made of: of itself, or of those that CMake joined in it."""
    if not JOINED.search(unit["file"]):
        return [unit]
    sources = INCLUDE.findall(Path(unit["file"]).read_text())
    return [{**unit, "command": unit["command"].replace(unit["file"], source), "file": source} for source in sources]


def state(version: str, command: list[str], unit: CompileCommand, headers: list[Path]) -> str:
    """Returns a digest of everything that a check of this source depends on."""
    digest = hashlib.sha256(" ".join([version, *command, unit["command"]]).encode())
    source = Path(unit["file"])
    rules = [folder / ".clang-tidy" for folder in source.parents if folder.is_relative_to(ROOT)]
    for file in [*filter(Path.exists, rules), source, *sorted(headers)]:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:32]


def changed_files() -> set[Path] | None:
    """Returns the files that differ from the commit of cmake/tidied_commit.txt, also new ones; None if git lacks it."""
    base = (ROOT / "cmake" / "tidied_commit.txt").read_text().strip()
    diff = subprocess.run(["git", "diff", "--name-only", base, "--"], capture_output=True, text=True)
    if diff.returncode != 0:
        print(f"clang-tidy: commit {base} is not in this clone; every source is checked", flush=True)
        return None
    new = ["git", "ls-files", "--others", "--exclude-standard"]
    untracked = subprocess.run(new, capture_output=True, text=True, check=True)
    return {ROOT / line for line in (diff.stdout + untracked.stdout).splitlines()}


def touched(sources: dict[Path, list[Path]], changed: set[Path]) -> set[Path]:
    """Returns the changed ones of `sources` (source -> its headers), and one source for each changed header.

    That is the source with the header's own name, if there is one. All of a folder whose .clang-tidy changed.
    """
    found = changed & set(sources)
    for rules in (file for file in changed if file.name == ".clang-tidy"):
        found.update(source for source in sources if source.is_relative_to(rules.parent))
    for header in sorted(file for file in changed if file.suffix == ".h"):
        users = sorted(source for source, headers in sources.items() if header in headers)
        if users and not found.intersection(users):
            found.add(next((source for source in users if source.stem == header.stem), users[0]))
    return found


def passes(command: list[str], unit: CompileCommand, stamp: Path) -> bool:
    """Checks one source and remembers that it passed."""
    run = subprocess.run([*command, "-p", str(stamp.parent), unit["file"]], capture_output=True, text=True)
    if run.returncode == 0:
        stamp.touch()
    else:
        print(run.stdout, end="")
    return run.returncode == 0


def main() -> int:
    build, jobs = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    stamps = build / "tidy"
    stamps.mkdir(exist_ok=True)
    quick = "--quick" in sys.argv
    commands = [QUICK, DEEP] if quick else [DEEP]
    version = subprocess.run([DEEP[0], "--version"], capture_output=True, text=True, check=True).stdout
    sources = tracked("*.cc")
    includes = Includes()
    units = {Path(u["file"]): u for u in plain_units(build, stamps) if Path(u["file"]) in sources}
    of_ours = {source: includes.of(source) for source in units}
    changed = changed_files() if quick else None
    work = []
    for source in sorted(units if changed is None else touched(of_ours, changed)):
        found = [stamps / state(version, command, units[source], of_ours[source]) for command in commands]
        if not any(stamp.exists() for stamp in found):
            work.append((units[source], found[0]))
    print(f"clang-tidy: {len(work)} of {len(units)} sources", flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        return 0 if all(list(pool.map(lambda item: passes(commands[0], *item), work))) else 1


if __name__ == "__main__":
    sys.exit(main())
