# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs 1,000 small programs without CUDA, with the library and without: same output and status, and no file."""

import itertools
import os
import signal
import subprocess
from pathlib import Path

PRELOAD = Path(os.environ["MEMTRACE_BUILD"]) / "package/lib/libmemtrace_preload.so"
PROGRAMS = 1000

# Each command has one input, for `{}`.
COMMANDS = (
    ("true",),
    ("false",),
    ("echo", "{}"),
    ("printf", "%s\\n", "{}"),
    ("seq", "{}"),
    ("expr", "{}", "*", "2"),
    ("cat", "input.txt"),
    ("cat", "missing.txt"),
    ("grep", "-c", "line", "input.txt"),
    ("grep", "nothing of the kind", "input.txt"),
    ("sed", "s/line/{}/", "input.txt"),
    ("awk", "{ print NR, $1 } END { exit 3 }", "input.txt"),
    ("sort", "-r", "input.txt"),
    ("wc", "input.txt"),
    ("head", "-n", "2", "input.txt"),
    ("cksum", "input.txt"),
    ("tr", "a-z", "A-Z"),
    ("basename", "/a/b/{}"),
    ("test", "{}", "=", "12"),
    ("sh", "-c", "exit {}"),
    ("sh", "-c", "echo out; echo err >&2; ls | wc -l"),
    ("sh", "-c", "kill -TERM $$"),
    ("sh", "-c", "exec 3>&- 4>&-; unset LD_PRELOAD; cat input.txt"),
    ("env", "-i", "/bin/echo", "{}"),
    ("ls", "/nowhere"),
)


def run(command: list[str], folder: Path, preload: Path | None) -> tuple[int, bytes, bytes]:
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    if preload:
        environment["LD_PRELOAD"] = str(preload)
    with (folder / "input.txt").open("rb") as given:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=given, capture_output=True, timeout=30, check=False
        )
    return done.returncode, done.stdout, done.stderr


def test_programs_behave_as_without_the_preload(tmp_path):
    (tmp_path / "input.txt").write_text("".join(f"line {i} of the input\n" for i in range(20)))
    before = sorted(tmp_path.iterdir())
    expected: dict[tuple[str, ...], tuple[int, bytes, bytes]] = {}
    kinds = set()
    for number, command in zip(range(PROGRAMS), itertools.cycle(COMMANDS), strict=False):
        words = [word.replace("{}", str(number // len(COMMANDS))) for word in command]
        plain = expected.setdefault(tuple(words), run(words, tmp_path, None))
        assert run(words, tmp_path, PRELOAD) == plain, words
        kinds.add(plain[0])
    assert {0, 1, 3, -signal.SIGTERM} <= kinds
    assert sorted(tmp_path.iterdir()) == before


def test_statically_linked_program_is_unaffected(tmp_path):
    (tmp_path / "input.txt").write_text("")
    source = tmp_path / "static.c"
    source.write_text('#include <stdio.h>\nint main(void) { return puts("static") < 0; }\n')
    program = tmp_path / "static"
    subprocess.run(["cc", "-static", "-o", program, source], timeout=60, check=True)
    assert run([str(program)], tmp_path, PRELOAD) == (0, b"static\n", b"")


def test_no_thread_file_or_core_is_added(tmp_path):
    (tmp_path / "input.txt").write_text("")
    # Not a pipe, because the shell may or may not have one end of it open when ls looks.
    show = "; ".join(
        [
            "ls /proc/$$/task > listed; wc -l < listed",
            "ls /proc/$$/fd > listed; wc -l < listed",
            "grep -c memtrace_preload /proc/$$/maps",
            "grep -c libmemtrace.so /proc/$$/maps",
        ]
    )
    plain = run(["sh", "-c", show], tmp_path, None)[1].split()
    ours = run(["sh", "-c", show], tmp_path, PRELOAD)[1].split()
    assert ours[:2] == plain[:2]
    assert plain[2:] == [b"0", b"0"]
    assert int(ours[2]) > 0 and ours[3] == b"0"
