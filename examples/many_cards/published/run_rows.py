# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs rows of torchtitan's table on simulated cards: run_rows.py ROW... (docs/many-cards.md).

The program is torchtitan's own at the commit of the table, with the options of the row. For each row it prints the
command, and the most memory that torch reserved, as torchtitan itself prints it.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from rows import ROWS, Row

_RESERVED = re.compile(r"step: *(\d+).*memory: *([\d.]+)GiB")
_CARDS = "8xh100-80gb,size=95GiB"  # H100 with 96 GB, which the table is about


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="+", choices=[*ROWS, "all"], metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--titan", type=Path, required=True, help="folder of torchtitan at commit 9dec370")
    parser.add_argument("--ao", type=Path, help="folder of torchao at commit eab345c, if it is not installed")
    parser.add_argument("--data", type=Path, required=True, help="folder that make_data.py has written")
    parser.add_argument("--out", type=Path, default=Path("rows"), help="folder for traces and output")
    parser.add_argument("--python", default=sys.executable, help="the Python that has torch")
    parser.add_argument("--memtrace", default="memtrace", help="the command memtrace")
    parser.add_argument("--allocator", default="native", help="native (torch's, as published) or memtrace")
    parser.add_argument(
        "--expandable", action="store_true", help="with expandable segments, as torchtitan's own start script"
    )
    parser.add_argument("--events", default="eager", help="when the card's work ends: eager or lazy (memtrace run)")
    parser.add_argument("--ranks", help="real ranks, instead of those of the row")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--more", default="", metavar="OPTIONS", help="further options of torchtitan, in one argument")
    return parser.parse_args()


def command(row: Row, options: argparse.Namespace) -> list[str]:
    """Returns the command that runs the row."""
    world = str(row.world) if row.world <= 8 else f"{row.world // 8}x8"
    traces = options.out / row.name
    return [
        *(options.memtrace, "run", "--card", _CARDS, "--world", world, "--ranks", options.ranks or row.ranks),
        *("--allocator", options.allocator, "--events", options.events, "-f", "-o", f"{traces}/", "--"),
        *(options.python, str(options.titan / "train.py")),
        *("--job.config_file", str(options.titan / "train_configs" / f"llama3_{row.flavor}.toml")),
        *("--job.dump_folder", str(traces / "dump"), "--metrics.log_freq", "1"),
        *("--model.tokenizer_path", str(options.data / "tokenizer.model"), "--training.dataset", "c4_test"),
        *("--training.dataset_path", str(options.data / "texts"), "--training.steps", str(options.steps)),
        *("--comm.init_timeout_seconds", "3600"),
        *shlex.split(row.options),
        *shlex.split(options.more),
    ]


def environment(options: argparse.Namespace) -> dict[str, str]:
    """Returns the variables of the program. It reads its data from files, so no network is asked for.

    Each rank compiles in its own process: Inductor's further processes would take 0.3 GiB of the host each.
    """
    variables = dict(os.environ, HF_HUB_OFFLINE="1", TORCHINDUCTOR_COMPILE_THREADS="1")
    if options.expandable:
        variables["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    paths = [str(path) for path in (options.titan, options.ao) if path is not None]
    variables["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])
    return variables


def reserved(output: str) -> float | None:
    """Returns the most GiB that any rank of the row reserved in a step; None if no step was printed."""
    found = [float(gib) for _, gib in _RESERVED.findall(re.sub(r"\x1b\[[\d;]*m", "", output))]
    return max(found, default=None)


def run(row: Row, options: argparse.Namespace) -> bool:
    (options.out / row.name).mkdir(parents=True, exist_ok=True)
    arguments = command(row, options)
    print(shlex.join(arguments), flush=True)
    start = time.monotonic()
    with (options.out / f"{row.name}.log").open("w+") as log:
        status = subprocess.run(arguments, env=environment(options), stdout=log, stderr=subprocess.STDOUT).returncode
        log.seek(0)
        ours = reserved(log.read())
    seconds = time.monotonic() - start
    if ours is None or status != 0:
        print(f"{row.name}: failed with status {status} after {seconds:.0f} s; see {log.name}", flush=True)
        return False
    difference = 100 * (ours / row.published - 1)
    print(
        f"{row.name}: published {row.published}, ours {ours:.2f} GiB, {difference:+.1f} %, {seconds:.0f} s", flush=True
    )
    return True


def main() -> int:
    options = parse()
    names = list(ROWS) if "all" in options.rows else options.rows
    done = [run(ROWS[name], options) for name in names]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
