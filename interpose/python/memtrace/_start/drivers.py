# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Finds NVIDIA's own libraries on this machine or in this process, beside the simulated card."""

import os
from collections.abc import Iterable
from pathlib import Path

from memtrace._core.package import CARD
from memtrace._patching.signal_exceptions import raise_if_from_outside

# Folders that the loader searches beside LD_LIBRARY_PATH: distributions, NVIDIA's container runtime, WSL.
_LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
)


def installed_driver() -> str:
    """Returns the file of NVIDIA's driver library on this machine, "" if there is none. Nothing is loaded."""
    named = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for folder in [*filter(None, named), *_LIBRARY_FOLDERS]:
        file = Path(folder) / "libcuda.so.1"
        # `memtrace run` adds the card's own folder there.
        if file.is_file() and file.parent.name != CARD.name:
            return str(file)
    return ""


def loaded_beside(card: Path, libraries: Iterable[str]) -> str:
    """Returns the file of a loaded library that the card in folder `card` would replace, or ""."""
    # The driver's file is libcuda.so.580.65.06; its soname is a link.
    beginnings = ("libcuda.so", *libraries)
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise_if_from_outside(error)
        return ""
    for line in lines:
        file = Path(line.split(maxsplit=5)[5]) if line.count("/") else Path()
        if file.name.startswith(beginnings) and file.parent.name != card.name:
            return str(file)
    return ""
