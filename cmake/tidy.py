# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources that changed since they last passed, because it takes seconds per file.

usage: tidy.py BUILD JOBS [--quick]

--quick is for `make test`. It checks only changes since the commit that cmake/tidied_commit.txt names: each changed
source, and for each changed header one source that includes it. It also leaves out clang's static analyzer, which takes
as long as all other checks together. At the commit in that file every source passed the quick checks (after a change of
a .clang-tidy all sources below it are checked). `make lint` and `make test-all` check every source with every check.

The clang-tidy is the one beside this Python, of the version in the lock file. A source counts as checked while its
text, every header of ours that it includes (as the compiler recorded them: `ninja -t deps`), its command line, its
.clang-tidy files and that version are unchanged. Exit code 1 if a check fails.
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


def headers_by_object(build: Path) -> dict[str, list[Path]]:
    """Returns the headers of ours that went into each object file, by the name that ninja gives it."""
    own = tracked("*.h")
    found: dict[str, list[Path]] = {}
    current: list[Path] = []
    deps = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True)
    for line in deps.stdout.splitlines():
        if line.startswith("    "):
            header = (build / line.strip()).resolve()
            if header in own:
                current.append(header)
        elif ": #deps" in line:
            current = found.setdefault(line.split(":")[0], [])
    return found


def plain_units(build: Path, folder: Path) -> list[CompileCommand]:
    """Returns the build's compile commands without what only GCC knows; also writes them into `folder`.

    Without precompiled headers, a source that forgets an include is found as well.
    """
    units: list[CompileCommand] = json.loads((build / "compile_commands.json").read_text())
    for unit in units:
        unit["command"] = OF_GCC.sub("", unit["command"])
    (folder / "compile_commands.json").write_text(json.dumps(units))
    return units


def object_file(unit: CompileCommand) -> str:
    """Returns the name that follows -o."""
    words = unit["command"].split()
    return str(words[words.index("-o") + 1])


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
    headers = headers_by_object(build)
    units = {Path(u["file"]): u for u in plain_units(build, stamps) if Path(u["file"]) in sources}
    of_ours = {source: headers.get(object_file(unit), []) for source, unit in units.items()}
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
