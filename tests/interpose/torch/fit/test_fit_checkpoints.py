# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a trial cost the host nothing, are loaded in their form, and leave the user's folders unchanged."""

import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from support.events import annotations
from support.programs import GIB, ROOT, on_card


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Iterator[Path]:
    """Yields the program's folder, which is empty, and checks that it is empty afterwards."""
    folder = tmp_path / "users"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert os.listdir(folder) == []


def in_trial(script: str, folder: Path, *arguments: str, **options):
    scratch = folder.parent / "scratch"
    return on_card(script, folder.parent, *arguments, MEMTRACE_FIT_SCRATCH=str(scratch), **options)


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
print(json.dumps([grown >> 10, {name: os.stat(f"out/{name}").st_blocks * 512 for name in os.listdir("out")}]))
"""


def test_checkpoints_are_saved_without_their_bytes(tmp_path, folder):
    cache = tmp_path / "cache"
    cache.mkdir()
    run = in_trial(SAVES, folder, str(cache), XDG_CACHE_HOME=str(cache))
    grown, sizes = run.printed()
    assert grown < 100, "MiB on the host"
    assert sizes.pop("host.pt") > 4_000_000 and max(sizes.values()) < 20_000 and len(sizes) == 5
    assert os.listdir(cache) == ["host.pt"]
    told = annotations(run.trace)
    assert (told["fit.kept_away.saves"], told["fit.kept_away.files"]) == ("6", "2")
    first = json.loads(told["fit.kept_away.first"])
    assert first == [
        str(folder / "out" / name)
        for name in ("all.pt", "model.pt", "big.safetensors", "model.safetensors", "host.safetensors")
    ]
    assert run.report()["peak"]["bytes"] == 2 * GIB


LOADS = """
import torch
from pathlib import Path
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.BatchNorm1d(512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
model(torch.zeros(2, 512, device="cuda")).sum().backward()
optimizer.step()
form = lambda tensors: {name: (of.shape, of.stride(), of.dtype, of.device) for name, of in tensors.items()}
random_state = torch.get_rng_state()
torch.save(
    {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 7, "random": random_state}, "best.pt"
)
before = torch.cuda.memory_allocated()
for where in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, location: storage):
    host = torch.load("best.pt", map_location=where)
    assert torch.cuda.memory_allocated() == before
    assert host["epoch"] == 7 and {of.device.type for of in host["model"].values()} == {"cpu"}
assert host["random"].equal(random_state) and host["optimizer"]["state"][0]["step"] == 1
assert torch.load("best.pt", map_location="cuda")["random"].is_cuda
held = torch.load(Path("best.pt"), weights_only=True)
assert torch.cuda.memory_allocated() >= before + 3 * 512 * 512 * 4
assert form(held["model"]) == form(model.state_dict())
model.load_state_dict(held["model"])
optimizer.load_state_dict(held["optimizer"])
"""


def test_checkpoint_is_loaded_with_its_shapes_on_the_requested_device(folder):
    in_trial(LOADS, folder)


LOADS_ELSEWHERE = """
import os, shutil, subprocess, sys, torch
weight = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
torch.save({"tied": [weight, weight], "part": weight[:9]}, "last.tmp")
before = torch.cuda.memory_allocated()
loaded = torch.load("last.tmp")
assert torch.cuda.memory_allocated() - before == 256 << 20
assert loaded["tied"][0] is loaded["tied"][1] and loaded["part"].data_ptr() == loaded["tied"][0].data_ptr()
os.replace("last.tmp", "last.pt")
shutil.copyfile("last.pt", "best.pt")
with open("best.pt", "rb") as file:
    assert torch.load(file, "cpu")["part"].shape == (9,)
with open("by_file.pt", "wb") as file:
    torch.save([weight], file)
assert torch.load("by_file.pt", "cpu")[0].shape == weight.shape
child = "import torch; assert torch.load('best.pt', map_location='cpu')['part'].shape == (9,)"
subprocess.run([sys.executable, "-c", child], check=True)
"""


def test_moved_or_copied_checkpoint_is_found_by_other_processes(folder):
    in_trial(LOADS_ELSEWHERE, folder)


LOADS_OBJECTS = """
import os, pickle, sys, torch
class Mine(torch.nn.Linear):
    pass
torch.save(Mine(4, 4).cuda(), "whole.pt")
assert type(torch.load("whole.pt", weights_only=False)) is Mine
try:
    torch.load("whole.pt")
except pickle.UnpicklingError as error:
    assert "Mine" in str(error)
else:
    sys.exit("loaded as weights")
torch.save([torch.empty(4, device="cuda"), lambda: 0], "strange.pt")  # another pickle_module would know it
try:
    torch.load("strange.pt")
except RuntimeError as error:
    assert "without its contents" in str(error) and "strange.pt" in str(error)
else:
    sys.exit("loaded without a form")
class Hostile:
    def __reduce__(self):
        return (os.system, ("touch executed",))
with open("hostile.pt", "wb") as file:
    file.write(b"memtrace outline\\n" + pickle.dumps({"1": Hostile()}))
try:
    torch.load("hostile.pt")
except pickle.UnpicklingError:
    pass
else:
    sys.exit("executed")
"""


def test_objects_of_user_classes_are_loaded_as_by_torch(folder):
    in_trial(LOADS_OBJECTS, folder)


SAFETENSORS = """
import numpy, os, resource, shutil, torch
from safetensors import safe_open
from safetensors.numpy import load_file as load_arrays, save_file as save_arrays
from safetensors.torch import load_file, load_model, save_file, save_model
grown = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start >> 10  # MiB
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
big = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
save_file({"odd": big[:3], "big": big, "half": big[:8].view(torch.bfloat16)}, "big.safetensors", {"format": "pt"})
try:
    shutil.copyfile("big.safetensors", "big.safetensors")
except shutil.SameFileError:
    pass
os.mkdir("copies")
shutil.copy("big.safetensors", "copies")
assert os.stat("copies/big.safetensors").st_blocks * 512 < 20_000
before = torch.cuda.memory_allocated()
host = load_file("copies/big.safetensors")
assert torch.cuda.memory_allocated() == before
assert {name: (len(of), of.dtype) for name, of in host.items()} == {
    "odd": (3, torch.uint8), "big": (1 << 30, torch.uint8), "half": (4, torch.bfloat16)}
card = load_file("big.safetensors", device="cuda")
assert card["big"].is_cuda and 0 <= torch.cuda.memory_allocated() - before - (1 << 30) < 4096
with safe_open("big.safetensors", "pt") as file:
    assert file.metadata() == {"format": "pt"} and file.get_slice("big")[:5].shape == (5,)
assert grown() < 100, grown()
model = torch.nn.Linear(8, 8).cuda()
save_model(model, "model.safetensors")
assert load_model(model, "model.safetensors") == (set(), [])
save_arrays({"array": numpy.ones((3, 4))}, "arrays.safetensors")
assert load_arrays("arrays.safetensors")["array"].shape == (3, 4)
"""


def test_safetensors_files_are_loaded_with_their_shapes(folder):
    in_trial(SAFETENSORS, folder)


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
again = GPT2LMHeadModel.from_pretrained("final")
assert {name: of.shape for name, of in again.state_dict().items()} == {
    name: of.shape for name, of in model.state_dict().items()}
trainer.train(resume_from_checkpoint=True)
"""
FRAMEWORKS = ROOT / ".venv-frameworks/bin/python"


@pytest.mark.skipif(not FRAMEWORKS.exists(), reason="no .venv-frameworks; setup/setup.sh frameworks makes it")
@pytest.mark.skipif(not version("torch").startswith("2.11"), reason="the frameworks' environment has torch 2.11")
def test_transformers_trainer_saves_resumes_and_leaves_no_files(folder):
    offline = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}
    run = in_trial(TRAINER, folder, python=FRAMEWORKS, **offline)
    assert int(annotations(run.trace)["fit.kept_away.saves"]) >= 3 * 6  # model, optimizer and arguments of each step
