# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of forked runs of `memtrace fit` that need no run: noted imports, requests, and functions that are replaced."""

import _socket
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from memtrace._forks.rebinding import rebinding
from memtrace._forks.request import receive

# A program with a library of its own; what it notes is printed when it would use CUDA.
PROGRAM = """
import os, sys
sys.path.insert(0, sys.argv[1])
from memtrace._forks import noted_imports
noted_imports.begin(sys.argv[2])
import first_library
{between}
import second_library
class Cuda:
    _lazy_call = staticmethod(lambda call: call())
class Torch:
    cuda = Cuda
noted_imports.torch_imported(Torch)
"""


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "first_library.py").write_text("import os\nos.environ['SET_BY_A_LIBRARY'] = '1'\n")
    (folder / "second_library.py").write_text("")
    return folder


def noted(libraries: Path, between: str) -> list[str]:
    program, list_file = libraries.parent / "program.py", libraries.parent / "imports.json"
    program.write_text(PROGRAM.format(between=between))
    subprocess.run([sys.executable, program, libraries, list_file], check=True, timeout=60)
    files = dict(json.loads(list_file.read_text()))
    assert all(Path(file).exists() for file in files.values())
    assert not any(name.startswith(("memtrace", "__main__")) for name in files)
    return [name for name in files if name.endswith("_library")]


def test_libraries_are_noted_in_the_order_of_their_imports(libraries: Path) -> None:
    assert noted(libraries, "import json") == ["first_library", "second_library"]


@pytest.mark.parametrize(
    "between", ["os.environ['TOKENIZERS_PARALLELISM'] = 'false'", "del os.environ['PATH']", "os.putenv('A', 'b')"]
)
def test_imports_after_a_variable_that_the_program_sets_are_not_noted(libraries: Path, between: str) -> None:
    assert noted(libraries, between) == ["first_library"]


def test_modules_of_the_user_are_not_noted(libraries: Path) -> None:
    (libraries.parent / "users_library.py").write_text("")
    assert noted(libraries, "import users_library") == ["first_library", "second_library"]


def test_request_is_read_as_it_was_sent() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    text = os.memfd_create("request")
    os.write(text, b"2\0A=b=c\0NAME=\0/work folder\0python\0train.py\0\xff\0")
    log, mounts = os.open(os.devnull, os.O_WRONLY), os.open("/proc/self/ns/mnt", os.O_RDONLY)
    socket.send_fds(ours, [b"\0"], [text, log, mounts])
    connection = _socket.socket(fileno=theirs.detach())
    request = receive(connection)
    assert request is not None
    assert request.environment == {"A": "b=c", "NAME": ""}
    assert (request.folder, request.words) == ("/work folder", ["python", "train.py", "\udcff"])
    assert os.readlink(f"/proc/self/fd/{request.log}") == os.devnull
    assert os.readlink(f"/proc/self/fd/{request.mounts}") == os.readlink("/proc/self/ns/mnt")
    ours.close()
    assert receive(connection) is None
    for descriptor in (text, log, mounts, request.log, request.mounts):
        os.close(descriptor)


def test_functions_are_replaced_where_a_library_has_bound_them() -> None:
    owner, library, other = ModuleType("owner"), ModuleType("library"), ModuleType("other")
    vars(owner).update(save=lambda: "old", kept=lambda: "kept", number=3)
    vars(library).update(write=owner.save, kept=owner.kept, number=3)
    vars(other).update(save=owner.save)
    with rebinding([owner], [library]):
        vars(owner).update(save=lambda: "new", number=4)
    assert library.write() == "new" and library.kept() == "kept"
    assert library.number == 3
    assert other.save() == "old"
