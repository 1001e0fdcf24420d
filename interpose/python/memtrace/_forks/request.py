# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A request to fork a run, as tools/fit/forks/fork_server.cc sends it."""

import _socket
import os
from array import array
from typing import NamedTuple

_DESCRIPTORS = 3
_LONGEST = 1 << 26  # bytes


class Request(NamedTuple):
    """A run to fork."""

    environment: dict[str, str]
    folder: str  # to enter in the mount namespace
    words: list[str]  # of the command
    log: int  # descriptor for both outputs
    mounts: int  # descriptor of the mount namespace


def receive(connection: _socket.socket) -> Request | None:
    """Waits for the next request; None if there will be none."""
    size = array("i").itemsize * _DESCRIPTORS
    content, ancillary, _, _ = connection.recvmsg(1, _socket.CMSG_SPACE(size))
    if not content or not ancillary:
        return None
    descriptors = array("i", ancillary[0][2])
    return _parsed(*descriptors)


def _parsed(text: int, log: int, mounts: int) -> Request:
    fields = [os.fsdecode(field) for field in os.pread(text, _LONGEST, 0).split(b"\0")]
    os.close(text)
    count = int(fields[0])
    variables = dict(entry.split("=", 1) for entry in fields[1 : count + 1])
    return Request(variables, fields[count + 1], fields[count + 2 : -1], log, mounts)
