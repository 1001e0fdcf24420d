# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""When a trial of `memtrace fit` ends its process, what its trace then contains, and which errors it lets through."""

import importlib.util
import json

import pytest
from support.events import annotations
from support.programs import MIB, Finished, memtrace, on_card

# Step N keeps KEEP's value for N in MiB, beside the memory of training.
TRAINING = """
import torch
model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
for step in range(1, 12):
    kept.append(torch.empty(KEEP(step) << 20, dtype=torch.uint8, device="cuda"))
    model(torch.randn(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("came to the end")
"""


def trial(script: str, folder, steps: str, **options) -> Finished:
    return on_card(script, folder, options=("--allocator", "native"), MEMTRACE_FIT_STEPS=steps, **options)


def fit(run: Finished) -> dict[str, str]:
    return {key[4:]: value for key, value in annotations(run.trace).items() if key.startswith("fit.")}


@pytest.mark.parametrize(
    "keep, steps, ended",
    [
        pytest.param("0", "3:10", ("settled", 3), marks=pytest.mark.slow),
        ("64 * (step < 5)", "3:10", ("settled", 5)),
        pytest.param("64 * (step == 4)", "4:10", ("settled", 5), marks=pytest.mark.slow),
        ("64", "3:6", ("steps", 6)),
    ],
)
def test_process_ends_once_no_peak_rises(tmp_path, keep, steps, ended):
    run = trial(f"KEEP = lambda step: {keep}\n" + TRAINING, tmp_path, steps)
    told = fit(run)
    assert (told["ended"], int(told["steps"])) == ended
    assert "came to the end" not in run.out and run.err == ""
    assert run.stats()["events"]["steps"] == ended[1]


def test_peaks_equal_torchs_even_if_the_program_resets_them(tmp_path):
    script = """
import json, torch
torch.empty(300 << 20, dtype=torch.uint8, device="cuda")
peaks = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats()
assert torch.cuda.max_memory_reserved() == 0
print(json.dumps(peaks))
"""
    run = trial(script, tmp_path, "3:10", card="2x1GiB")
    told = fit(run)
    assert [int(told["peak_allocated.0"]), int(told["peak_reserved.0"])] == run.printed() == [300 * MIB, 300 * MIB]
    assert told["peak_allocated.1"] == told["peak_reserved.1"] == "0"
    assert told["steps"] == "0" and "ended" not in told


def test_first_rise_is_that_of_the_first_step_that_uses_cuda(tmp_path):
    script = """
import torch

def train(device):
    model = torch.nn.Linear(1024, 1024).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(5 if device == "cuda" else 2):
        model(torch.randn(64, 1024, device=device)).sum().backward()
        optimizer.step()

train("cpu")
assert not torch.cuda.is_initialized()
train("cuda")
"""
    told = fit(trial(script, tmp_path, "1:10", card="2x1GiB"))
    rises = json.loads(told["rises"])
    assert [step for step, _ in rises] == [3, 4]
    assert all(peaks[0] > 0 == peaks[1] and len(peaks) == 2 for _, peaks in rises), rises
    assert (told["ended"], told["steps"]) == ("settled", "5")


def test_stated_steps_replace_optimizer_steps(tmp_path):
    script = TRAINING.replace("optimizer.zero_grad()", "optimizer.zero_grad(); memtrace.step()")
    run = trial("import memtrace\nKEEP = lambda step: 0\n" + script, tmp_path, "3:10")
    assert (fit(run)["ended"], fit(run)["steps"]) == ("settled", "3")


def test_optimizer_steps_within_a_backward_are_counted(tmp_path):
    script = """
import torch
model = torch.nn.Linear(1024, 1024, device="cuda")
for parameter in model.parameters():
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    parameter.register_post_accumulate_grad_hook(lambda p, o=optimizer: o.step())
while True:
    model(torch.randn(64, 1024, device="cuda")).sum().backward()
"""
    assert fit(trial(script, tmp_path, "3:10"))["ended"] == "settled"


def test_program_that_ends_early_keeps_its_exit_code_and_steps(tmp_path):
    for last, status in (("raise KeyError('its own')", 1), ("sys.exit(7)", 7)):
        script = "import sys\nKEEP = lambda step: 0\n" + TRAINING.replace("range(1, 12)", "range(1, 3)") + last
        run = trial(script, tmp_path, "5:10", expect=status)
        assert ("KeyError: 'its own'" in run.err) == (status == 1)
        told = memtrace("report", str(run.trace)).out
        assert ("An exception, KeyError, ended the program" in told) == (status == 1)
        told = fit(run)
        assert "ended" not in told and told["steps"] == "2" and int(told["peak_allocated.0"]) > 0


def test_out_of_memory_of_a_trial_is_raised_to_the_program(tmp_path):
    run = trial("KEEP = lambda step: 100 * step\n" + TRAINING, tmp_path, "3:10", card="1GiB", expect=1)
    assert "torch.OutOfMemoryError: CUDA out of memory." in run.err
    assert fit(run)["steps"] == "2" and "ended" not in fit(run)
    assert run.report()["verdict"]["short_by"] > 0


# Evaluations fail for want of memory in a library, and by themselves. The card has 20 MiB left; cuSOLVER takes 96.
EVALUATING = """
import json, types, torch
from transformers import Trainer

class Evaluating(Trainer):
    def __init__(self, metrics):
        self.metrics = metrics
        self.args = types.SimpleNamespace(auto_find_batch_size=False, prediction_loss_only=True,
                                          eval_do_concat_batches=False)
    def evaluate(self, *args, **kwargs):
        self.metrics()

def decomposed():
    torch.linalg.cholesky(matrix)

def multiplied():
    raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")

def wrapped():
    try:
        multiplied()
    except RuntimeError as error:
        raise ValueError("The metrics failed.") from error

def unknown():
    raise KeyError("label")

matrix = torch.eye(64, device="cuda")
kept = torch.empty(torch.cuda.mem_get_info()[0] - (20 << 20), dtype=torch.uint8, device="cuda")
said = []
for metrics in (decomposed, multiplied, wrapped, unknown):
    try:
        said.append(str(Evaluating(metrics)._evaluate(None, None)))
    except Exception as error:
        said.append(str(error))
print(json.dumps(said))
"""


def test_evaluation_whose_library_gets_no_memory_has_not_failed_by_itself(tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed")
    run = trial(EVALUATING, tmp_path, "1:2", card="h100-80gb,size=2GiB", MEMTRACE_FIT_MOMENTS="job")
    decomposed, *others = run.printed()
    assert "CUSOLVER_STATUS_ALLOC_FAILED" in decomposed
    assert "CUBLAS_STATUS_ALLOC_FAILED" in others[0] and others[1:] == ["The metrics failed.", "{}"]
    known = [row[3] for row in json.loads(fit(run)["moments"]) if row[0] == "evaluation"]
    assert [row.get("ended_by") for row in known] == [*["RuntimeError"] * 2, "ValueError", None]
    assert [row.get("failed_by_itself", "").split(" at ")[0] for row in known] == ["", "", "", "KeyError"]


def test_workers_and_threads_end_with_the_process(tmp_path):
    script = """
import os, sys, threading, time, torch
class Slow(torch.utils.data.Dataset):
    def __len__(self): return 1000
    def __getitem__(self, index):
        if index > 40: time.sleep(600)
        return torch.zeros(8)
threading.Thread(target=time.sleep, args=(600,)).start()
model = torch.nn.Linear(8, 8, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(Slow(), batch_size=4, num_workers=2, persistent_workers=True, pin_memory=True)
for x in loader:
    print([worker.pid for worker in torch.multiprocessing.active_children()])
    model(x.cuda()).sum().backward()
    optimizer.step()
"""
    run = trial(script, tmp_path, "3:10", seconds=60)
    assert fit(run)["ended"] == "settled"
    workers = run.printed()
    assert len(workers) == 2 and not [pid for pid in workers if _is_alive(pid)]


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as state:
            return state.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


RANKS = """
import os, torch, torch.distributed as dist
rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1024, 1024, device=f"cuda:{rank}"))
optimizer = torch.optim.AdamW(model.parameters())
kept = []
for step in range(1, 12):
    if rank == 1 and step < 6:
        kept.append(torch.empty(32 << 20, dtype=torch.uint8, device="cuda"))
    model(torch.randn(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_ranks_end_at_the_same_step(tmp_path):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    trial(RANKS, tmp_path, "3:10", card="2x1GiB", launcher=launcher, OMP_NUM_THREADS="1")
    ends = [annotations(trace) for trace in tmp_path.glob("run.trace*")]
    assert [(end["fit.ended"], end["fit.steps"]) for end in ends if "fit.ended" in end] == [("settled", "6")] * 2


def test_packages_that_changes_lack_are_named(tmp_path):
    (tmp_path / "peft.py").touch()
    told = fit(trial("KEEP = lambda step: 0\n" + TRAINING, tmp_path, "1:2"))
    is_installed = importlib.util.find_spec("bitsandbytes") is not None
    assert told.get("missing.adam8bit") == (None if is_installed else "bitsandbytes")
    assert "missing.lora" not in told and "missing.fused" not in told


@pytest.mark.skipif(importlib.util.find_spec("liger_kernel") is not None, reason="Liger is installed")
def test_liger_is_missed_only_where_a_trainer_would_use_it(tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed")
    with_trainer = "import transformers.trainer\nKEEP = lambda step: 0\n" + TRAINING
    assert fit(trial(with_trainer, tmp_path, "1:2"))["missing.liger"] == "liger_kernel"
    assert "missing.liger" not in fit(trial("KEEP = lambda step: 0\n" + TRAINING, tmp_path, "1:2"))


def test_steps_are_not_watched_without_the_variable(tmp_path):
    ours = "import json, sys\nprint(json.dumps([name for name in sys.modules if name.startswith('memtrace._fit')]))"
    run = on_card("KEEP = lambda step: 0\n" + TRAINING + ours, tmp_path, warm=False)
    assert "came to the end" in run.out and run.printed() == []
    assert not fit(run)
