# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of others, recorded on real GPUs: the simulated card makes the same recording.

The programs and the recordings are the corpus's (MEMTRACE_CORPUS, recordings/README.md there); without it these skip.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from support.corpus import CORPUS

RECORDINGS = CORPUS / "recordings"
LAUNCHER = Path(__file__).with_name("card_launcher.py")
pytestmark = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason="no corpus of real recordings (set MEMTRACE_CORPUS to the folder that holds it)"
)

WEDSONLIN = "wedsonlin/cs336_systems/nsys_profile.py --d_model 1024 --d_ff 4096 --num_layers 24 --num_heads 16"
WEDSONLIN += " --model_name medium --memory-profiler pytorch"
# This one was recorded under WSL, where addresses ascend.
CASES = {
    "Wedsonlin__assignment2-systems__medium_512_training_memory_snapshot.pickle": (
        "80GiB,os=windows",
        f"{WEDSONLIN} --context_length 512 --autocast true --pattern full-training-step",
        "",
    ),
    "Wedsonlin__assignment2-systems__medium_128_inference_memory_snapshot.pickle": (
        "80GiB,os=windows",
        f"{WEDSONLIN} --context_length 128 --autocast false --pattern forward-only",
        "",
    ),
    "bolongcheng__assignment2-systems__memory_snapshot_xl_fwd_cl512_dtypetorch.bfloat16.pickle": (
        "178GiB",
        "bolongcheng/run.py 512 bfloat16",
        "expandable_segments:True",
    ),
}


class DataOnly(pickle.Unpickler):
    """Reads a snapshot's lists, dictionaries, strings and numbers; anything else in the file is refused."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"refused: {module}.{name}")


def load(path):
    with open(path, "rb") as file:
        return DataOnly(file).load()


def allocations(snapshot):
    return [event["size"] for event in snapshot["device_traces"][0] if event["action"] == "alloc"]


def peak(snapshot):
    """Returns the highest sum of requested bytes; bytes alive at the first event follow from those alive at the end."""
    sign = {"alloc": 1, "free_requested": -1}
    steps = [sign[e["action"]] * e["size"] for e in snapshot["device_traces"][0] if e["action"] in sign]
    blocks = [b for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated"]
    now = sum(block["requested_size"] for block in blocks) - sum(steps)
    highest = now
    for step in steps:
        now += step
        highest = max(highest, now)
    return highest


def reserved(snapshot):
    return sum(segment["total_size"] for segment in snapshot["segments"])


@pytest.mark.parametrize("recording", CASES)
def test_card_reproduces_the_recording_of_a_real_gpu(recording, tmp_path):
    card, command, settings = CASES[recording]
    script, *arguments = command.split()
    folder = RECORDINGS / script.split("/")[0]
    subprocess.run(
        [sys.executable, str(LAUNCHER), card, str(RECORDINGS / script), *arguments],
        env={**os.environ, "PYTHONPATH": str(folder), "PYTORCH_CUDA_ALLOC_CONF": settings},
        cwd=tmp_path,
        check=True,
        timeout=200,
        capture_output=True,
    )
    (made,) = tmp_path.rglob("*.pickle")
    real, simulated = load(CORPUS / "snapshots" / recording), load(made)
    assert allocations(simulated) == allocations(real)
    assert peak(simulated) == peak(real)
    assert reserved(simulated) == reserved(real)
