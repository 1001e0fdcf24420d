# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of `memtrace fit` that protect the user's files in every way (docs/design/fit.md), and their answers."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.json_object import JsonObject
from support.programs import MEMTRACE

# The ways: with a layer; without the right to mount, so that a user namespace is needed; and without a layer.
LAYER = "layer"
USERS = "users"
PYTHON = "python"
WAYS = (LAYER, USERS, PYTHON)

# Facts of an answer that differ from run to run, however its trials are made.
OF_EACH_RUN = ("seconds", "forks")
PROCESS = re.compile(r"process \d+")  # the name of one


def run(
    way: str, folder: Path, *command: str | Path, json: bool = True, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Runs `memtrace fit` for the command on 8 GiB, with `folder` as the working folder."""
    options = ["--card", "8GiB", "--watch", "0", "--margin", "0", *(["--json"] if json else [])]
    asked = [*without_rights(way), MEMTRACE, "fit", *options, "--", sys.executable, *command]
    environment = {**os.environ, **({"MEMTRACE_FIT_OVERLAY": "0"} if way == PYTHON else {}), **settings}
    return subprocess.run(asked, cwd=folder, env=environment, capture_output=True, text=True, timeout=280, check=False)


def kept_away(way: str, folder: Path, *command: str | Path) -> JsonObject:
    """Returns the answer's facts about the user's files; skips if the kernel refuses that way."""
    done = run(way, folder, *command)
    assert done.returncode == 0, done.stderr
    kept: JsonObject = json.loads(done.stdout)["kept_away"]
    if way != PYTHON and kept["layer_bytes"] == 0:
        assert kept["why_no_layer"]
        pytest.skip(kept["why_no_layer"])
    assert (kept["layer_bytes"] == 0) == (way == PYTHON)
    return kept


def without_rights(way: str) -> list[str]:
    """Returns a command that takes the right to mount from root; other users do not have it."""
    if way != USERS or os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("setpriv, which takes rights from root, is not installed")
    return [setpriv, "--bounding-set", "-sys_admin"]


def without_times(value: Any) -> Any:
    """Returns an answer, or a part of one, without the facts that differ from run to run."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in OF_EACH_RUN}
    if isinstance(value, list):
        return [without_times(each) for each in value]
    return PROCESS.sub("process", value) if isinstance(value, str) else value
