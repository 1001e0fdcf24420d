# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `memtrace.estimate_program` for several configs in one process, and prints each result as JSON.

The first argument is a file with a JSON list of [name, config, arguments]; folders of the configs are made beside it.
"""

import contextlib
import gc
import io
import json
import os
import sys
from pathlib import Path

import torch
from memtrace import estimate_program
from support.json_object import JsonObject


def outcome(folder: Path, arguments: list[str]) -> JsonObject:
    out, err = io.StringIO(), io.StringIO()
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = estimate_program.main([str(folder), *arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    peak = torch.cuda.max_memory_allocated() - before
    lines = out.getvalue().splitlines()
    said = [line for line in err.getvalue().splitlines() if line.startswith("memtrace: ")]
    return {"code": code, "lines": lines, "said": said, "peak": peak}


cases = json.loads(Path(sys.argv[1]).read_text())
found = {}
for name, config, arguments in cases:
    own = Path(sys.argv[1]).parent / name
    own.mkdir()
    if config is not None:
        (own / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    found[name] = outcome(own, arguments)
os.write(1, f"{json.dumps(found)}\n".encode())
