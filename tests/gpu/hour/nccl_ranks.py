# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the memory that communicators of several ranks take, by NCCL's options and first uses, as JSON lines.

Usage: nccl_ranks.py >FILE. Run it while nothing else uses the card. Ranks are processes that share the cards that there
are; several on one card need NCCL 2.30 or newer (preload it), which says NCCL_MULTI_RANK_GPU_ENABLE to that. Bytes are
of one rank: what all took, divided by their number. `log` is what NCCL itself writes of its allocations.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist

MIB = 1 << 20
VARIANTS: tuple[tuple[int, dict[str, str]], ...] = (
    (1, {}),
    (2, {}),
    (4, {}),
    (8, {}),
    (2, {"NCCL_CUMEM_ENABLE": "0"}),
    (4, {"NCCL_CUMEM_ENABLE": "0"}),
    (4, {"NCCL_RUNTIME_CONNECT": "0"}),
    (4, {"NCCL_CUMEM_HOST_ENABLE": "0"}),
    (4, {"NCCL_SHM_DISABLE": "1"}),
    (4, {"NCCL_P2P_LEVEL": "SYS", "NCCL_IGNORE_DISABLED_P2P": "1"}),
    (4, {"NCCL_MAX_NCHANNELS": "4", "NCCL_MAX_CTAS": "4"}),
)
CHANNELS = re.compile(
    r"(\d+) coll channels, (\d+) collnet channels, (\d+) nvls channels, (\d+) p2p channels, (\d+) p2p"
)


class Rank:
    """One process of the job, which meets the others before and after each step."""

    def __init__(self, rank: int, world: int) -> None:
        self.rank, self.world = rank, world
        self.card = rank % torch.cuda.device_count()
        torch.cuda.set_device(self.card)
        self.store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]) + 1, world, rank == 0)
        self.meetings = 0
        self.found: dict[str, float] = {}
        self.tensor = torch.ones(32 * MIB, device="cuda")
        self.parts = torch.ones(world * MIB, device="cuda")
        self.other = torch.ones(world * MIB, device="cuda")
        self.tensor.add_(1).sum().item()
        self.meet()
        self.last = self.used()
        self.meet()

    def used(self) -> int:
        """Returns the bytes in use on this rank's card."""
        free, total = torch.cuda.mem_get_info(self.card)
        return total - free

    def meet(self) -> None:
        self.meetings += 1
        self.store.set(f"{self.meetings}.{self.rank}", "here")
        self.store.wait([f"{self.meetings}.{other}" for other in range(self.world)])

    def step(self, name: str, call: Callable[[], object]) -> None:
        call()
        torch.cuda.synchronize()
        self.meet()
        now = self.used()
        self.found[name] = (now - self.last) / -(-self.world // torch.cuda.device_count())
        self.last = now
        self.meet()


def of_rank(rank: int, world: int) -> None:
    mine = Rank(rank, world)
    dist.init_process_group("nccl", rank=rank, world_size=world, device_id=torch.device("cuda", mine.card))
    mine.step("made", lambda: None)
    small = mine.tensor[:256]
    mine.step("all_reduce of 1 KiB", lambda: dist.all_reduce(small))
    mine.step("all_reduce of 128 MiB", lambda: dist.all_reduce(mine.tensor))
    mine.step("all_reduce of 128 MiB again", lambda: dist.all_reduce(mine.tensor))
    mine.step("all_gather", lambda: dist.all_gather_into_tensor(mine.parts, mine.other[:MIB]))
    mine.step("reduce_scatter", lambda: dist.reduce_scatter_tensor(mine.other[:MIB], mine.parts))
    mine.step("broadcast", lambda: dist.broadcast(mine.tensor, 0))
    mine.step("all_to_all", lambda: dist.all_to_all_single(mine.parts, mine.other))
    group = dist.new_group(list(range(world)))
    mine.step("second group, all_reduce of 1 KiB", lambda: dist.all_reduce(small, group=group))
    pair = dist.new_group([0, 1] if world > 1 else [0])
    mine.step("group of two, all_reduce of 1 KiB", lambda: dist.all_reduce(small, group=pair) if rank < 2 else None)
    if rank == 0:
        print(json.dumps(mine.found), flush=True)
    mine.meet()
    os._exit(0)


def log_of(folder: Path) -> dict[str, object]:
    """Returns what NCCL wrote: the channels, the transports, and the number of allocations of each kind and size."""
    channels: set[tuple[int, ...]] = set()
    kinds: collections.Counter[str] = collections.Counter()
    transports: collections.Counter[str] = collections.Counter()
    for text in (path.read_text(errors="replace") for path in folder.glob("log.*")):
        for line in text.splitlines():
            if found := CHANNELS.search(line):
                channels.add(tuple(map(int, found.groups())))
            if found := re.search(r" via (\S+)", line):
                transports[found[1]] += 1
            if re.search(r"[Aa]lloc", line) and (found := re.search(r"([\w/.]+\.(?:cc|h|cu)):\d+", line)):
                size = re.search(r"[Ss]ize (?:0x)?(\d+)|size:? ?(\d+)", line)
                what = re.sub(r"0x[0-9a-f]+|\d+", "N", line.split("NCCL INFO")[-1].strip())[:60]
                kinds[f"{what} | {size[0] if size else ''}"] += 1
    return {"channels": sorted(channels), "transports": dict(transports), "allocations": dict(kinds.most_common(60))}


def job(world: int, options: dict[str, str], port: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "NCCL_MULTI_RANK_GPU_ENABLE": "1",
            "NCCL_DEBUG": "INFO",
            "NCCL_DEBUG_SUBSYS": "INIT,ALLOC,P2P,SHM,NET,GRAPH",
            "NCCL_DEBUG_FILE": f"{folder}/log.%p",
            **options,
        }
        ranks = [
            subprocess.Popen(
                [sys.executable, __file__, str(rank), str(world)],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(world)
        ]
        try:
            said = [rank.communicate(timeout=60) for rank in ranks]
        except subprocess.TimeoutExpired:
            for rank in ranks:
                rank.kill()
            return {"world": world, "options": options, "error": "60 s were over", "log": log_of(Path(folder))}
        row: dict[str, object] = {"world": world, "options": options, "log": log_of(Path(folder))}
        if said[0][0].strip():
            return row | {"bytes of a rank": json.loads(said[0][0].splitlines()[-1])}
        return row | {"error": said[0][1][-400:]}


def main() -> None:
    if len(sys.argv) > 1:
        of_rank(int(sys.argv[1]), int(sys.argv[2]))
        return
    print(json.dumps({"nccl": list(torch.cuda.nccl.version()), "card": torch.cuda.get_device_name()}), flush=True)
    for number, (world, options) in enumerate(VARIANTS):
        print(json.dumps(job(world, options, 29600 + 10 * number)), flush=True)


if __name__ == "__main__":
    main()
