# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Replays recorded requests with torch's allocators (their real code) and with ours on the simulated card.

Usage: replay_torch.py BUILD [--ways native,expandable,memtrace] [FILE ...]. FILE is a trace or a torch snapshot;
without one, all snapshots of the corpus (MEMTRACE_CORPUS) whose trace is complete are taken.

Prints, for each file and card, the lower bound (peak of live bytes, each block rounded up to 512), and for each
allocator the smallest card on which all is served, its ratio to the bound, the peak of reserved bytes and the time on a
large card, and the driver's calls on the smallest. "policy" is our allocator without torch, on a card that is only
bookkeeping; "planned" is the same, following a plan made of the same events.
"""

import argparse
import ctypes
import json
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from scenario_card import CORPUS, WAYS, CallLog, Run, RunFields, called, load, on_card, smallest_card
from snapshot_events import events, read_snapshot

COMPLETE = (
    "Constructor-Sun__code_location__memory_snapshot.pickle",
    "NiuHuangxiaozi__assignment2-systems__forward_and_backward_memory_snapshot_100.pickle",
    "NiuHuangxiaozi__assignment2-systems__forward_and_backward_memory_snapshot_200_mixed_precision.pickle",
    "NiuHuangxiaozi__assignment2-systems__forward_memory_snapshot_100.pickle",
)
ROOM = 160 << 30
EVENTS_AT_ONCE = 50_000  # the card's log of calls is limited


class Player:
    """Plays one event sequence with bench/torch_replay.cc."""

    def __init__(self, build: Path, path: Path, device: int) -> None:
        self._library = ctypes.CDLL(str(build / "bench/libtorch_replay.so"))
        self._library.torch_replay_read.restype = ctypes.c_uint64
        self._library.torch_replay_run.restype = ctypes.c_uint64
        self._library.torch_replay_events.restype = ctypes.c_uint64
        self.bound = int(self._library.torch_replay_read(str(path).encode(), device))
        if self.bound == 0:
            raise ValueError(f"{path} has no allocation of card {device}")

    def run(self, way: str, card: int) -> Run:
        """Plays it on a card, in a process of its own."""
        return Run(**on_card(card, way, self._play))

    def _play(self) -> RunFields:
        import torch

        torch.cuda.init()
        log, seconds, total = CallLog(), ctypes.c_double(), 0.0
        log.begin()
        served, wanted = 0, 0
        while served == wanted:
            wanted += EVENTS_AT_ONCE
            served = self._library.torch_replay_run(ctypes.c_uint64(EVENTS_AT_ONCE), ctypes.byref(seconds))
            total += seconds.value
            log.read()
        calls = log.turn()
        self._library.torch_replay_end()
        return {
            "completed": served == self._library.torch_replay_events(),
            "peak_reserved": torch.cuda.max_memory_reserved(),
            "calls": calls,
            "steps": [],
            "said": f"{total * 1e3:.1f}",
        }


def texts(files: list[Path], folder: Path) -> list[tuple[str, Path, int]]:
    """Returns name, file and card of each sequence; snapshots are written as text into `folder`."""
    found = []
    for file in files:
        if file.suffix not in (".pickle", ".pkl"):
            found.append((file.name, file, 0))
            continue
        snapshot = read_snapshot(file)
        text = folder / f"{file.stem}.txt"
        text.write_text("\n".join(events(snapshot)) + "\n")
        cards = [card for card, trace in enumerate(snapshot["device_traces"]) if trace]
        found += [(file.stem.split("__")[-1], text, card) for card in cards]
    return found


def measure(build: Path, path: Path, device: int, ways: list[str]) -> None:
    """Prints the lines of one sequence."""
    player = Player(build, path, device)
    print(f"  bound {player.bound / 2**20:.1f} MiB")
    for name, mode in (("policy", []), ("planned", ["--plan"])):
        replay = [str(build / "bench/replay"), "--device", str(device), *mode, str(path)]
        policy = json.loads(subprocess.run(replay, capture_output=True, timeout=300, check=True).stdout)
        calls = {kind: policy[kind] for kind in ("create", "map", "unmap", "wait")}
        print(f"  {name:10}  smallest {policy['card'] / 2**20:9.1f} MiB  ratio {policy['ratio']:.4f}  {calls}")
    for way in ways:
        roomy = player.run(way, ROOM)
        card, run = smallest_card(partial(player.run, way), player.bound - 1, roomy.peak_reserved)
        print(
            f"  {way:10}  smallest {card / 2**20:9.1f} MiB  ratio {card / player.bound:.4f}  {called(run.calls)}; "
            f"with room: peak reserved {roomy.peak_reserved / 2**20:.1f} MiB, {roomy.said} ms, {called(roomy.calls)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    files = options.files or [CORPUS / "snapshots" / name for name in COMPLETE]
    missing = [file for file in files if not file.exists()]
    if missing:
        print(f"skipped: no {missing[0]} (set MEMTRACE_CORPUS)")
        return
    load()
    with tempfile.TemporaryDirectory() as folder:
        for name, path, device in texts(files, Path(folder)):
            print(f"{name}, card {device}")
            measure(options.build, path, device, options.ways.split(","))


if __name__ == "__main__":
    main()
