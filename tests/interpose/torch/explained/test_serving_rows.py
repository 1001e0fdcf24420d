# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Reports' advice for programs that do not train: models that are served, merged and searched. Cures are tested."""

from pathlib import Path

import pytest
from support.json_object import JsonObject
from support.programs import MIB, memtrace, on_card

# x - y and its square are each 64 x 256 x 1024 floats, 64 MiB.
DISTANCES = """
import torch
def distances(x, y):
    return ((x.unsqueeze(1) - y.unsqueeze(0)){}).sum(2)
x, y = torch.rand(64, 1024, device="cuda"), torch.rand(256, 1024, device="cuda")
distances(x, y)
"""
# Two sums of 64 MiB are made, neither of them computed from the other.
SUMS = """
import torch
def sums():
    return torch.zeros(1 << 24, device="cuda"), torch.zeros(1 << 24, device="cuda")
sums()
"""
# 16 weights of 16 MiB, or 8 MiB each in half precision.
MOVED = """
import torch
from torch import nn
model = nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(16)])
model.{}
"""
# 8 weights of 16 MiB; the next model is made before the last one is gone.
SWITCHED = """
import torch
from torch import nn
def make():
    return nn.Sequential(*[nn.Linear(2048, 2048, bias=False, device="cuda") for _ in range(8)]).eval()
class Server:
    def __init__(self):
        self.model = None
        self.models = {{"small": None}}
    def switch(self):
        {}
    def describe(self, old):
        return repr(self.model)
server = Server()
for request in range(2):
    server.switch()
"""
# Messages have a row for each of 3,001 edges, not for each of 1,000 nodes.
EDGES = """
import torch
from torch import nn
class Net(nn.Module):
    def forward(self, x, source):
        return x[source].exp()
x, source = torch.rand(1000, 4096, device="cuda"), torch.zeros(3001, dtype=torch.long, device="cuda")
with torch.no_grad():
    Net()(x, source)
"""
# Scores of 4 x 1024 x 8192 floats are 128 MiB, and so are their logarithms.
SCORED = """
import torch
from torch import nn
head = nn.Linear(64, 8192).cuda()
def score(x):
    with torch.no_grad():
        scores = head(x)
        return torch.log_softmax(scores, dim=-1).sum()
score(torch.zeros({}, 1024, 64, device="cuda"))
"""
# Eight layers of 8 MiB become a model once all are there.
LAYERS = """
import torch
from torch import nn
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2048, 1024, bias=False, device="cuda")
nn.ModuleList([Layer() for _ in range(8)])
"""
MERGED = """
import torch
from safetensors.torch import load_file, save_file
save_file({{str(n): torch.zeros(1 << 22) for n in range(8)}}, "model.safetensors")
base, tuned = load_file("model.safetensors", device="{0}"), load_file("model.safetensors", device="{0}")
vector = {{key: tuned[key] - base[key] for key in base}}
"""
GENERATED = """
import torch
from transformers import MistralConfig, MistralForCausalLM
model = MistralForCausalLM(MistralConfig(vocab_size=512, hidden_size=256, intermediate_size=1024, num_hidden_layers=8,
                                         num_attention_heads=4, num_key_value_heads=4)).cuda().eval()
ids = torch.ones({}, 512, dtype=torch.long, device="cuda")
model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=2, num_beams={}, do_sample=False,
               pad_token_id=0, eos_token_id=None)
"""
# The similarity of all examples, 4096 x 4096 floats, is 64 MiB for any batch size; here it is 128.
RANKED = """
import torch
from torch import nn
encoder = nn.Linear(64, 64).cuda().eval()
features = []
with torch.no_grad():
    for batch in range(32):
        features.append(encoder(torch.ones(128, 64, device="cuda")))
    joined = torch.cat(features)
    torch.argsort(joined @ joined.t())
"""
# Each call leaves the keys and values of 4 x 520 tokens, 4 MiB a layer, and 8 scores of 4 x 32000 floats.
KEPT_OUTPUTS = """
import torch
from collections import OrderedDict
from transformers import MistralConfig, MistralForCausalLM
model = MistralForCausalLM(MistralConfig(vocab_size=32000, hidden_size=256, intermediate_size=512, num_hidden_layers=4,
                                         num_attention_heads=4, num_key_value_heads=4)).cuda().eval()
class Backend:
    def __init__(self):
        self.outputs = OrderedDict()
    def ask(self, key):
        ids = torch.ones(4, 512, dtype=torch.long, device="cuda")
        output = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False,
                                pad_token_id=0, eos_token_id=None, return_dict_in_generate=True, output_scores=True)
        self.outputs[key] = output{}
backend = Backend()
for request in range(24):
    backend.ask(request)
"""
# A server keeps all it has loaded, and a cached method keeps its object: 128 MiB each.
CACHED = """
import functools
import torch
from torch import nn
def make():
    return nn.Sequential(*[nn.Linear(2048, 2048, bias=False, device="cuda") for _ in range(8)]).eval()
@functools.lru_cache(maxsize=8)
def load(name):
    return make()
class World:
    def __init__(self, model):
        self.model = model
    @functools.lru_cache(maxsize=1)
    def count(self):
        return 1
def evaluate():
    world = World(make())
    return world.count()
for name in ("first", "second"):
    {}
"""
WORKERS = """
import torch, torch.multiprocessing as mp
def serve(number):
    kept = torch.zeros(60 << 18, device="cuda")
    if number:
        torch.zeros(60 << 18, device="cuda")
if __name__ == "__main__":
    for number in range(2):
        process = mp.get_context("spawn").Process(target=serve, args=(number,))
        process.start()
        process.join()
"""


def failed(script: str, folder: Path, card: str) -> JsonObject:
    return on_card(script, folder, card=f"{card},context=100MiB", expect=1, options=("--allocator", "native")).report()


def rows(report: JsonObject) -> dict[str, JsonObject]:
    return {row["name"]: row for row in report["remedies"]}


def completes(script: str, folder: Path, card: str) -> None:
    on_card(script, folder, card=f"{card},context=100MiB", options=("--allocator", "native"))


def test_arithmetic_on_a_large_input_fits_in_place(tmp_path: Path) -> None:
    report = failed(DISTANCES.format(" ** 2"), tmp_path, "200MiB")
    row = rows(report)["in place or in pieces"]
    assert row["change"].startswith("train.py:4: compute it in place")
    assert row["predicted_peak"] < 200 * MIB
    completes(DISTANCES.format(".square_()"), tmp_path, "200MiB")


def test_result_not_computed_from_a_large_tensor_has_no_in_place_remedy(tmp_path: Path) -> None:
    assert "in place or in pieces" not in rows(failed(SUMS, tmp_path, "200MiB"))


def test_fp32_weights_fit_if_halved_before_the_card(tmp_path: Path) -> None:
    row = rows(failed(MOVED.format("cuda().half()"), tmp_path, "300MiB"))["16 bits before the card"]
    assert not row["at_least"] and row["predicted_peak"] == (100 + 16 * 8) * MIB
    assert "afterwards" in row["cost"]
    completes(MOVED.format("half().cuda()"), tmp_path, "300MiB")


REPLACED = {
    "self.model = make()": "self.model",
    'self.model = make().to("cuda")': "self.model",
    'self.models["small"] = make()': "self.models['small']",
}


@pytest.mark.parametrize("line", REPLACED)
def test_replaced_model_is_named_and_dropping_it_first_fits(line: str, tmp_path: Path) -> None:
    report = failed(SWITCHED.format(line), tmp_path, "300MiB")
    name = REPLACED[line]
    assert (
        f"'{name}' still holds its earlier value (128.0 MiB, train.py:11) while the line makes the next one."
        in report["verdict"]["sentence"]
    )
    assert report["remedies"][0]["name"] == f"del {name}"
    assert "no second copy" not in rows(report)
    of = line.partition(" = ")[0]
    completes(SWITCHED.format(f"{of} = None; {line}"), tmp_path, "300MiB")


def test_model_read_before_its_replacement_is_not_named(tmp_path: Path) -> None:
    line = "self.model = make().register_buffer(self.describe(self.model), None)"
    report = failed(SWITCHED.format(line), tmp_path, "200MiB")
    assert "unread_names" not in report


def test_edges_of_a_graph_are_not_a_batch(tmp_path: Path) -> None:
    assert "half the batch" not in rows(failed(EDGES, tmp_path, "200MiB"))


def test_half_the_batch_also_halves_the_failed_request(tmp_path: Path) -> None:
    row = rows(failed(SCORED.format(4), tmp_path, "330MiB"))["half the batch"]
    assert row["predicted_peak"] < 330 * MIB
    completes(SCORED.format(2), tmp_path, "330MiB")


def test_layers_outside_a_model_are_not_copies_of_each_other(tmp_path: Path) -> None:
    assert "no second copy" not in rows(failed(LAYERS, tmp_path, "150MiB"))


def test_checkpoints_without_a_model_have_their_own_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = rows(failed(MERGED.format("cuda"), tmp_path, "400MiB"))["checkpoint in host memory"]
    assert row["change"].startswith("load_file(..., device=") and "model has its own" not in row["cost"]
    on_card(MERGED.format("cpu"), tmp_path, card="400MiB,context=100MiB", output=False)


def test_kv_cache_of_generate_is_predicted_from_layers_and_beams(tmp_path: Path) -> None:
    report = failed(GENERATED.format(1, 32), tmp_path, "400MiB")
    # 32 beams of 512 tokens: 2 x 256 floats for each take 32 MiB in a layer.
    assert report["verdict"]["step_short_by_from"] == "kv_cache"
    assert "of KV cache exists, for " in report["verdict"]["sentence"]
    found = rows(report)
    assert "half the sequences of a prompt" in found and "half the batch" not in found
    needed = on_card(GENERATED.format(1, 32), tmp_path, card="4GiB,context=100MiB").report()["peak"]["bytes"]
    larger = found["a larger card"]["predicted_peak"]
    assert found["a larger card"]["at_least"] and 0.8 * needed < larger <= needed + 110 * MIB
    assert "half the batch" in rows(failed(GENERATED.format(2, 16), tmp_path, "400MiB"))


@pytest.mark.parametrize(("line", "function"), [("load(name)", "load"), ("evaluate()", "World.count")])
def test_memory_held_only_by_lru_cache_is_named(line: str, function: str, tmp_path: Path) -> None:
    report = failed(CACHED.format(line), tmp_path, "300MiB")
    assert f"The functools.lru_cache of {function} (train.py:" in report["verdict"]["sentence"]
    assert "alone holds 128.0 MiB." in report["verdict"]["sentence"]
    first = report["remedies"][0]
    assert first["name"] == f"{function}.cache_clear()"
    completes(CACHED.format(f"{line}; {function}.cache_clear()"), tmp_path, "300MiB")


def test_memory_also_held_by_a_variable_is_not_named(tmp_path: Path) -> None:
    report = failed(CACHED.format("models = [*globals().get('models', []), load(name)]"), tmp_path, "300MiB")
    assert "lru_cache" not in report["verdict"]["sentence"]


ACTIVATED = """
import torch
from torch import nn
def upscale(x):
    return nn.functional.leaky_relu(x.repeat(4, 1), 0.2, inplace={})
with torch.no_grad():
    upscale(torch.zeros(1024, 4096, device="cuda"))
"""


def test_activation_function_fits_in_place(tmp_path: Path) -> None:
    row = rows(failed(ACTIVATED.format("False"), tmp_path, "200MiB"))["in place or in pieces"]
    assert row["change"].startswith("train.py:5: inplace=True for leaky_relu")
    assert row["predicted_peak"] < 200 * MIB
    completes(ACTIVATED.format("True"), tmp_path, "200MiB")


def test_result_of_all_batches_has_no_half_batch_remedy(tmp_path: Path) -> None:
    report = failed(RANKED, tmp_path, "300MiB")
    assert not [name for name in rows(report) if "half" in name]
    assert "grows" not in report["verdict"]["sentence"]


def test_kept_caches_of_finished_calls_are_growth_with_a_keeper(tmp_path: Path) -> None:
    report = failed(KEPT_OUTPUTS.format(""), tmp_path, "500MiB")
    growth = report["growth"]
    call = 4 * 519 * 256 * 4 * 2 * 4 + 8 * 4 * 32000 * 4
    assert abs(growth["bytes_per_step"] - call) < call / 20, growth
    assert "'backend.outputs'" in report["verdict"]["sentence"]
    assert [name for name in rows(report) if name != "a larger card"] == ["do not keep"]
    completes(KEPT_OUTPUTS.format('["sequences"]'), tmp_path, "500MiB")


def test_report_of_a_completed_process_names_the_failed_one(tmp_path: Path) -> None:
    done = on_card(WORKERS, tmp_path, card="200MiB,context=100MiB")
    reports = {path: memtrace("report", str(path)).out for path in tmp_path.glob("run.trace*")}
    ran_out = next(path for path, text in reports.items() if "OUT OF MEMORY" in text)
    others = [text for path, text in reports.items() if path != ran_out]
    assert others, done.err
    assert all(
        str(ran_out) in " ".join(text.split()) and "another one of the run did" in " ".join(text.split())
        for text in others
    )
