# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A trial leaves no trace in the user's folders, and the program does not notice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.events import annotations
from support.programs import GIB, ROOT, on_card

PROGRAM = Path(__file__).with_name("fit_files.py")
INJECT = "import memtrace, os; print(os.path.join(os.path.dirname(memtrace.__file__), 'inject'))"


@pytest.fixture
def folder(tmp_path) -> Path:
    """What the program fit_files.py expects."""
    folder = tmp_path / "users"
    for name, text in (
        ("old.txt", "old"),
        ("log.txt", "one"),
        ("runs/1/a.txt", "aaa"),
        ("elsewhere/x.txt", "x"),
        ("elsewhere/second.txt", "second"),
        ("full/inner/f.txt", "f"),
        ("full/e.txt", "e"),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with open(folder / "big.bin", "wb") as big:
        big.truncate(100 << 20)
    (folder / "data").symlink_to("elsewhere")
    return folder


def contents(folder: Path) -> dict[str, object]:
    """All of it: contents, rights and times."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        text = path.read_bytes()[:100] if path.is_file() else b""
        found[str(path)] = (text, status.st_mode, status.st_size, status.st_mtime_ns)
    return found


def trial(scratch: Path) -> dict[str, str]:
    return {"MEMTRACE_FIT_SCRATCH": str(scratch)}


def run_python(program: Path, folder: Path, **environment: str) -> str:
    inject = subprocess.run([sys.executable, "-c", INJECT], capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run(
        [sys.executable, program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": inject, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_finds_what_it_wrote_and_leaves_its_folder_as_it_was(tmp_path, folder):
    before = contents(folder)
    scratch = tmp_path / "scratch"
    in_trial = run_python(PROGRAM, folder, **trial(scratch))
    assert contents(folder) == before
    assert (scratch / str(folder.relative_to("/")) / "new.txt").read_text() == "new"
    assert run_python(PROGRAM, folder) == in_trial  # as without a trial
    assert contents(folder) != before


SAVES = """
import io, json, os, resource, sys, torch, safetensors, safetensors.torch, safetensors.numpy
big = torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
host = torch.ones(1000, 1000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
os.makedirs("out")
torch.save({"state": [big]}, "out/all.pt")
torch.save(torch.nn.Linear(2, 2), open("out/model.pt", "wb"))
safetensors.torch.save_file({"big": big}, "out/big.safetensors", metadata={"format": "pt"})
safetensors.torch.save_model(torch.nn.Linear(2, 2), filename="out/model.safetensors")
safetensors.numpy.save_file({"host": host.numpy()}, "out/host.safetensors")
torch.save({"host": [host, 1, "text", None]}, "out/host.pt")
torch.save(big, os.path.join(sys.argv[1], "cached.pt"))
torch.save(host, os.path.join(sys.argv[1], "host.pt"))
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert torch.load("out/host.pt")["host"][0].equal(host)
torch.save(torch.nn.Linear(2, 2), buffer := io.BytesIO())
assert buffer.tell() > 100
print(json.dumps([grown >> 10, {name: os.path.getsize(f"out/{name}") for name in os.listdir("out")}]))
"""


def test_checkpoints_are_answered_without_their_bytes(tmp_path, folder, monkeypatch):
    cache = tmp_path / "cache"
    cache.mkdir()
    before = contents(folder)
    monkeypatch.chdir(folder)
    run = on_card(SAVES, tmp_path, str(cache), XDG_CACHE_HOME=str(cache), **trial(tmp_path / "scratch"))
    grown, sizes = run.printed()
    assert grown < 100, "MiB on the host"
    assert sizes.pop("host.pt") > 4_000_000 and set(sizes.values()) == {0} and len(sizes) == 5
    assert contents(folder) == before and os.listdir(cache) == ["host.pt"]
    told = annotations(run.trace)
    assert (told["fit.kept_away.saves"], told["fit.kept_away.files"]) == ("6", "2")
    first = json.loads(told["fit.kept_away.first"])
    assert first == [
        str(folder / "out" / name)
        for name in ("all.pt", "model.pt", "big.safetensors", "model.safetensors", "host.safetensors")
    ]
    assert run.report()["peak"]["bytes"] == 2 * GIB


LOADS = """
import sys, torch
from pathlib import Path
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.BatchNorm1d(512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
model(torch.zeros(2, 512, device="cuda")).sum().backward()
optimizer.step()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 7}, "best.pt")
before = torch.cuda.memory_allocated()
host = torch.load("best.pt", map_location="cpu", weights_only=True)
assert torch.cuda.memory_allocated() == before
assert host["epoch"] == 7 and {of.device.type for of in host["model"].values()} == {"cpu"}
held = torch.load(Path("best.pt"))
assert torch.cuda.memory_allocated() >= before + 3 * 512 * 512 * 4
model.load_state_dict(held["model"])
optimizer.load_state_dict(held["optimizer"])
assert {name: of.shape for name, of in held["model"].items()} == {
    name: of.shape for name, of in model.state_dict().items()
}
torch.save(model, "whole.pt")
try:
    torch.load("whole.pt", weights_only=False)
except RuntimeError as error:
    assert "without its tensors" in str(error) and "whole.pt" in str(error)
else:
    sys.exit("loaded")
print("loaded")
"""


def test_a_checkpoint_that_was_not_written_is_loaded_in_its_form(tmp_path, folder, monkeypatch):
    before = contents(folder)
    monkeypatch.chdir(folder)
    run = on_card(LOADS, tmp_path, **trial(tmp_path / "scratch"))
    assert (run.status, run.out.split()) == (0, ["loaded"]), run.err
    assert contents(folder) == before


BY_DESCRIPTOR = """
import os
folder = os.open(".", os.O_RDONLY)
os.unlink("old.txt", dir_fd=folder)
os.rename("log.txt", "moved.txt", src_dir_fd=folder, dst_dir_fd=folder)
os.mkdir("made", dir_fd=folder)
os.symlink("moved.txt", "link", dir_fd=folder)
with open(os.open("new.txt", os.O_WRONLY | os.O_CREAT, dir_fd=folder), "w") as new:
    new.write("new")
assert not os.path.exists("old.txt") and open("moved.txt").read() == "one" and open("new.txt").read() == "new"
assert os.stat("made", dir_fd=folder) and os.readlink("link", dir_fd=folder) == "moved.txt"
os.rmdir("made", dir_fd=folder)
assert not os.path.exists("made")
"""


def test_names_beside_an_open_folder_are_kept_away_too(tmp_path, folder):
    before = contents(folder)
    program = tmp_path / "by_descriptor.py"
    program.write_text(BY_DESCRIPTOR)
    run_python(program, folder, **trial(tmp_path / "scratch"))
    assert contents(folder) == before


TRAINER = """
import os, torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
class Sentences(Dataset):
    def __len__(self): return 64
    def __getitem__(self, index):
        return {"input_ids": torch.arange(32), "labels": torch.arange(32)}
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
words = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="a")
model = GPT2LMHeadModel(GPT2Config(n_embd=64, n_layer=2, n_head=2, vocab_size=100))
arguments = TrainingArguments(output_dir="out", per_device_train_batch_size=4, max_steps=6, save_steps=1,
                              report_to="none", save_total_limit=2, logging_steps=1, disable_tqdm=True,
                              dataloader_num_workers=2)
trainer = Trainer(model=model, args=arguments, train_dataset=Sentences(), processing_class=tokenizer)
trainer.train()
assert sorted(os.listdir("out")) == ["checkpoint-5", "checkpoint-6"], os.listdir("out")
assert "model.safetensors" in os.listdir("out/checkpoint-6")
assert "tokenizer.json" in os.listdir("out/checkpoint-6") and os.path.getsize("out/checkpoint-6/tokenizer.json") > 50
tokenizer.save_pretrained("elsewhere")
trainer.save_model("final")
model.save_pretrained("final")
"""
FRAMEWORKS = ROOT / ".venv-frameworks/bin/python"


@pytest.mark.skipif(not FRAMEWORKS.exists(), reason="no .venv-frameworks; setup/setup.sh frameworks makes it")
def test_transformers_trainer_saves_every_step_and_leaves_nothing(tmp_path, folder, monkeypatch):
    before = contents(folder)
    monkeypatch.chdir(folder)
    offline = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    run = on_card(TRAINER, tmp_path, python=FRAMEWORKS, **trial(tmp_path / "scratch"), **offline)
    assert contents(folder) == before
    assert int(annotations(run.trace)["fit.kept_away.saves"]) >= 3 * 6  # model, optimizer and arguments of each step
