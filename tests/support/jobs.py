# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs jobs of many ranks of which a few are real, for end-to-end tests (`memtrace run --world --ranks`)."""

import json
import sys
from pathlib import Path
from typing import Any

from support.programs import Finished, on_card


def run_job(
    script: Path,
    folder: Path,
    *arguments: str,
    world: int,
    ranks: str,
    cards: int = 8,
    card: str = "h100-80gb",
    python: Path = Path(sys.executable),
    launcher: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
    expect: int | None = 0,
    seconds: int = 120,
    **environment: str,
) -> Finished:
    """Runs the real ranks of a job on simulated cards; fails unless its status is `expect`."""
    return on_card(
        script,
        folder,
        *arguments,
        card=f"{cards}x{card}",
        options=("--world", str(world), "--ranks", ranks, *options),
        python=python,
        launcher=launcher,
        expect=expect,
        seconds=seconds,
        **environment,
    )


def by_rank(finished: Finished) -> dict[int, Any]:  # each program prints what its test needs
    """Returns the line of JSON that each rank printed, by its rank."""
    lines = [json.loads(line) for line in finished.out.splitlines() if line.startswith('{"rank"')]
    return {line["rank"]: line for line in lines}
