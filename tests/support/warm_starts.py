# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs scripts of a test file in forks of processes that have imported torch, as later runs of `memtrace fit` are.

Most of a small program's processor time is the import of torch, and Python's end with all that was imported. A fork
differs from a process that is started in what docs/design/testing.md, "Warm starts", says.
"""

import atexit
import ctypes
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_STUB = Path(__file__).with_name("own_outputs.py")
_PR_SET_CHILD_SUBREAPER = 36  # <sys/prctl.h>
_SHOWS_VARIABLES = "import json, os; print(json.dumps(dict(os.environ)))"
# Each fork may have another value of these.
_OF_A_RUN = ("MEMTRACE_CARD", "MEMTRACE_COMMAND", "MEMTRACE_OUTPUT", "MEMTRACE_CARD_SHARED", "PYTEST_CURRENT_TEST")
_EARLY = ("MEMTRACE_FIT_", "MEMTRACE_REAL_RANKS")  # these act before the program's first line
_COMPILER = "torch._dynamo"  # which the first optimizer imports
_MOST = 3  # processes that wait at the same time, of about 500 MiB each
_POLL = 0.005  # seconds

_servers: dict[str, "_Server"] = {}


def run(
    command: list[str], script: Path, arguments: tuple[str, ...], environment: dict[str, str], seconds: int
) -> subprocess.CompletedProcess[str] | None:
    """Runs a script as `command -- python script arguments` does, but in a fork; None if it cannot be run so.

    `command` is that of `memtrace run`, without the program. Raises TimeoutExpired after `seconds`.
    """
    if os.environ.get("MEMTRACE_WARM_STARTS") == "0":
        return None
    variables = _variables(command, environment)
    if variables is not None and any(name.startswith(_EARLY) for name in variables):
        return None
    server = None if variables is None else _server_for(script, variables)
    return None if server is None or variables is None else server.run(script, arguments, variables, seconds)


def _variables(command: list[str], environment: dict[str, str]) -> dict[str, str] | None:
    """Returns the variables that `memtrace run` gives its program; None if it refuses, or prints anything."""
    done = subprocess.run(
        [*command, "--", sys.executable, "-S", "-c", _SHOWS_VARIABLES],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines = done.stdout.splitlines()
    return json.loads(lines[0]) if done.returncode == 0 and len(lines) == 1 and not done.stderr else None


def _server_for(script: Path, variables: dict[str, str]) -> "_Server | None":
    libraries = ("torch", _COMPILER) if "optim." in script.read_text() else ("torch",)
    has_modules = any(other.suffix == ".py" and other != script for other in script.parent.iterdir())
    alike = sorted((name, value) for name, value in variables.items() if name not in _OF_A_RUN)
    key = json.dumps([alike, libraries, str(script) if has_modules else ""])
    if key not in _servers:
        if len(_servers) == _MOST:
            least = min(_servers, key=lambda key: _servers[key].runs)
            _servers.pop(least).end()
        _servers[key] = _Server(script if has_modules else None, variables, libraries)
    server = _servers[key]
    return server if server.is_ready else None


class _Server:
    """A process that has imported libraries, and forks runs of one script."""

    def __init__(self, script: Path | None, variables: dict[str, str], libraries: tuple[str, ...]) -> None:
        """Starts the process. Without `script`, its forks run copies of any script that has no modules beside it."""
        self._folder = Path(tempfile.mkdtemp(prefix="memtrace-warm-"))
        self.runs = 0  # so far
        self._is_copy = script is None
        self._script = script or self._folder / "train.py"
        self._script.touch()
        (self._folder / "imports.json").write_text(json.dumps([(name, _file_of(name)) for name in libraries]))
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, (self._folder / "server.txt").open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(self._script)],
                env={**variables, **self._variables_of_server(theirs.fileno())},
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(),),
            )
        answer = self._socket.recv(1000).decode()
        self.is_ready = answer == "0"
        if not self.is_ready:
            print("no warm start:", answer or (self._folder / "server.txt").read_text())
        atexit.register(self.end)

    def run(
        self, script: Path, arguments: tuple[str, ...], variables: dict[str, str], seconds: int
    ) -> subprocess.CompletedProcess[str]:
        """Runs the script to its end."""
        self.runs += 1
        if self._is_copy:
            self._script.write_bytes(script.read_bytes())
        words = [sys.executable, str(self._script), *arguments]
        out, err = self._folder / "out.txt", self._folder / "err.txt"
        err.write_bytes(b"")
        own = {"MEMTRACE_COMMAND": json.dumps(words), "MEMTRACE_FIT_STUB": str(_STUB), "OWN_ERRORS": str(err)}
        with out.open("wb") as log:
            process = self._fork({**variables, **own}, words, log.fileno())
        status = _status_of(process, seconds)
        return subprocess.CompletedProcess(words, status, out.read_text(), err.read_text())

    def end(self) -> None:
        """Ends the process; a second call does nothing."""
        self._socket.close()
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _variables_of_server(self, descriptor: int) -> dict[str, str]:
        return {"MEMTRACE_FIT_FORKS": str(descriptor), "MEMTRACE_FIT_IMPORTS": str(self._folder / "imports.json")}

    def _fork(self, variables: dict[str, str], words: list[str], log: int) -> int:
        """Asks for a run, as tools/fit/forks/fork_server.cc does, and returns its process, now a child of this one."""
        fields = [str(len(variables)), *(f"{name}={value}" for name, value in variables.items()), os.getcwd(), *words]
        text, mounts = os.memfd_create("request"), os.open("/proc/self/ns/mnt", os.O_RDONLY)
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
        try:
            os.write(text, b"".join(os.fsencode(field) + b"\0" for field in fields))
            socket.send_fds(self._socket, [b"\0"], [text, log, mounts])
            return int(self._socket.recv(1000))
        finally:
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0)
            os.close(text)
            os.close(mounts)


def _file_of(library: str) -> str:
    torch = importlib.util.find_spec("torch")
    assert torch is not None and torch.origin is not None
    return torch.origin if library == "torch" else str(Path(torch.origin).parent / "_dynamo" / "__init__.py")


def _status_of(process: int, seconds: int) -> int:
    """Waits for the end of a run, which leads a process group. Returns its status as a shell does."""
    end = time.monotonic() + seconds
    while (done := os.waitpid(process, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise subprocess.TimeoutExpired("a forked run", seconds)
        time.sleep(_POLL)
    code = os.waitstatus_to_exitcode(done[1])
    return code if code >= 0 else 128 - code
