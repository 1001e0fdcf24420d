# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Small tensors that come from the host keep true values on the simulated card; unknown values are counted."""

import pytest
from support.programs import on_card

ON = ("--host-values", "on")
OFF = ("--host-values", "off")

TRUE_VALUES = {
    "arithmetic": """
x = torch.tensor([1, 2, 3, 4], device="cuda")
assert x.sum().item() == 10 and (x * 2 + 1).tolist() == [3, 5, 7, 9]
x[1:3] += 10
assert x.tolist() == [1, 12, 13, 4]
assert x.to(torch.float32).mean().item() == 7.5
""",
    "strided_views": """
m = torch.arange(24, device="cuda").view(4, 6)
m[:, 4:] = 0
assert m[:, ::2].cpu().tolist() == [[0, 2, 0], [6, 8, 0], [12, 14, 0], [18, 20, 0]]
assert m.t()[1].tolist() == [1, 7, 13, 19]
assert torch.ones(3, device="cuda").expand(2, 3).cpu().tolist() == [[1.0] * 3] * 2
""",
    "whole_numbers_without_a_sign": """
for value in (0, 5, 2**63 - 1, 2**63, 2**64 - 1):
    x = torch.tensor([value], dtype=torch.uint64)
    assert x.item() == value and x.to("cuda").item() == value
    assert x.to("cuda").view(torch.int64).view(torch.uint64).item() == value
""",
    "what_lies_between_the_elements_of_a_view_stays_unknown": """
u = torch.empty(4, 4, device="cuda")
u[:, 0] = 7
assert u[:, 0].tolist() == [7.0] * 4
assert u.cpu()[0].tolist() == [7.0, 0.0, 0.0, 0.0]  # zeros for what is unknown
import sys; sys.exit(3)
""",
    "shapes_that_depend_on_values": """
x = torch.tensor([1, 2, 3, 4], device="cuda")
mask = torch.tensor([[True, False, True], [False, False, True]], device="cuda")
assert mask.nonzero().tolist() == [[0, 0], [0, 2], [1, 2]]
assert x[x > 2].tolist() == [3, 4] and torch.masked_select(x, x < 2).tolist() == [1]
assert torch.unique(torch.tensor([3, 1, 3, 2], device="cuda")).tolist() == [1, 2, 3]
assert torch.unique_consecutive(torch.tensor([3, 3, 1, 3], device="cuda")).tolist() == [3, 1, 3]
assert torch.bincount(x).tolist() == [0, 1, 1, 1, 1]
assert torch.repeat_interleave(x, torch.tensor([1, 0, 2, 1], device="cuda")).tolist() == [1, 3, 3, 4]
assert torch.equal(x, x.clone()) and not torch.equal(x, x + 1) and torch.allclose(x * 1.0, x * 1.0)
assert torch.nn.functional.one_hot(x).shape == (4, 5)
""",
    "made_on_the_card": """
assert torch.arange(5, device="cuda").tolist() == [0, 1, 2, 3, 4]
assert torch.full((2,), 7, device="cuda").tolist() == [7, 7] and torch.zeros(2, device="cuda").tolist() == [0.0, 0.0]
assert torch.tril(torch.ones(2, 2, device="cuda")).tolist() == [[1.0, 0.0], [1.0, 1.0]]
assert torch.cat([torch.ones(1, device="cuda"), torch.zeros(1, device="cuda")]).tolist() == [1.0, 0.0]
""",
    "memory_that_is_handed_out_again": """
a = torch.full((1000,), 5, device="cuda")
address = a.data_ptr()
del a
b = torch.empty(1000, dtype=torch.long, device="cuda")
assert b.data_ptr() == address
assert b[0].item() == 0  # unknown, and not the 5 that the block held
import sys; sys.exit(3)
""",
    "collectives_that_another_thread_ends": """
import torch.distributed as dist
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
for i in range(200):
    x = torch.full((8,), i, device="cuda")
    dist.broadcast(x, 0)
    assert x.tolist() == [i] * 8, (i, x.tolist())
    dist.all_reduce(x)
    assert x.tolist() == [i] * 8, (i, x.tolist())
dist.destroy_process_group()
""",
    "autograd_and_threads": """
import threading
w = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
(w * w).sum().backward()
assert w.grad.tolist() == [2.0, 4.0]
seen = []
t = threading.Thread(target=lambda: seen.append((torch.ones(3, device="cuda") * 2).tolist())); t.start(); t.join()
assert seen == [[2.0, 2.0, 2.0]]
""",
    "under_modes_and_transforms": """
from torch._subclasses.fake_tensor import FakeTensorMode
x = torch.tensor([1.0, 2.0], device="cuda")
with torch.inference_mode():
    assert x.reshape(2, 1).flatten().tolist() == [1.0, 2.0]
with torch.autocast("cuda", torch.bfloat16):
    assert (x * 2).tolist() == [2.0, 4.0]
assert torch.vmap(lambda v: v * 3)(x).tolist() == [3.0, 6.0]
assert torch.func.grad(lambda v: (v * v).sum())(x).tolist() == [2.0, 4.0]
with FakeTensorMode():
    assert (torch.empty(3, device="cuda") + 1).shape == (3,)
compiled = torch.compile(lambda v: v * 2 + 1, backend="aot_eager")
compiled(x)  # the call that compiles
assert compiled(x).tolist() == [3.0, 5.0]
""",
    "higher_order_operators": """
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint
x = torch.tensor([1.0, 2.0], device="cuda")
either = torch.compile(lambda v: torch.cond(v.sum() > 2, lambda w: w * 3, lambda w: w * 5, (v,)), backend="eager")
assert either(x).tolist() == [3.0, 6.0]
q = torch.randn(1, 1, 128, 16, device="cuda", requires_grad=True)
assert torch.compile(flex_attention, backend="aot_eager")(q, q, q).shape == q.shape
recomputed = lambda v: checkpoint(scaled_dot_product_attention, v, v, v, use_reentrant=False)
torch.compile(recomputed, backend="aot_eager")(q).sum().backward()
assert q.grad.shape == q.shape
""",
    "learning_rate_and_masks_of_a_training_step": """
layer = torch.nn.Linear(4, 4, device="cuda")
optimizer = torch.optim.AdamW(layer.parameters(), capturable=True)
layer(torch.ones(2, 4, device="cuda")).sum().backward()
optimizer.step()
state = optimizer.state[layer.weight]
assert state["step"].item() == 1.0
""",
}


@pytest.mark.parametrize("allocator", ["memtrace", pytest.param("native", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", TRUE_VALUES)
def test_values_equal_those_of_a_gpu(name, allocator, tmp_path):
    script = TRUE_VALUES[name]
    expect = 3 if "sys.exit(3)" in script else 0
    done = on_card("import torch\n" + script, tmp_path, options=("--allocator", allocator, *ON), expect=expect)
    reads = done.report()["simulated"]["host_values"]["reads"]
    if expect == 0:
        assert reads["unknown"] == 0, done.report()["simulated"]["host_values"]
        assert reads["assumed"] == 0 or name == "made_on_the_card"
    else:
        assert reads["unknown"] == 1


def lines(done):
    return {
        (read["place"].rsplit("/", 1)[-1], read["known"], read["count"], read["answer"])
        for read in done.report()["simulated"]["host_values"]["lines"]
    }


def test_unknown_reads_are_answered_and_reported_by_line(tmp_path):
    done = on_card(
        """
import torch
layer = torch.nn.Linear(512, 512, device="cuda")
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
scaler = torch.amp.GradScaler()
for _ in range(3):
    loss = layer(torch.randn(512, 512, device="cuda")).square().mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)
    scaler.step(optimizer)
    scaler.update()
    assert loss.item() == 0.0
    assert torch.isfinite(loss).item()
""",
        tmp_path,
        options=ON,
    )
    said = lines(done)
    assert ("train.py:13 in <module>", "unknown", 3, "0.0") in said
    assert ("train.py:14 in <module>", "assumed", 3, "") in said
    assert any(place.startswith("train.py:10") for place, known, _, _ in said), said
    assert any(place.startswith("train.py:11") and known == "unknown" for place, known, _, _ in said), said


def test_loop_on_an_unknown_value_is_stopped_and_named(tmp_path):
    done = on_card(
        """
import torch
x = torch.randn(1000, 1000, device="cuda")
while not (x.sum() > 0):
    pass
""",
        tmp_path,
        options=ON,
        expect=1,
    )
    assert "train.py:4 in <module> read 1000 values in one step that the simulated card does not know" in done.err


def test_policy_file_changes_the_answers(tmp_path):
    policy = tmp_path / "answers"
    policy.write_text("aten::_local_scalar_dense at train.py:4 read true 7 1.5\naten::nonzero count 0.25\n")
    script = """
import torch
x = torch.randn(1000, 1000, device="cuda")
assert x.sum().item() == 1.5
assert x.mean().item() == 0.0
assert x.nonzero().shape == (250000, 2)
"""
    on_card(script, tmp_path, options=("--host-values", str(policy)))
    policy.write_text("limit whole 10\naten::argmax result\n")
    refused = on_card(script, tmp_path, options=("--host-values", str(policy)), expect=5, warm=False)
    assert "answers:2: result needs one value" in refused.err


def test_host_values_are_on_by_default_and_off_keeps_nothing(tmp_path):
    script = """
import ctypes, torch
x = torch.ones(3, device="cuda")
x.sum().item()
known_at = ctypes.CDLL("libcuda.so.1").memtrace_card_known_at
known_at.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
x.copy_(torch.ones(3))
assert known_at(x.data_ptr(), 12) == KNOWN
"""
    on = on_card("KNOWN = 2" + script, tmp_path)
    assert "host_values" in on.report()["simulated"]
    done = on_card("KNOWN = 0" + script, tmp_path, options=OFF)
    assert "host_values" not in done.report()["simulated"]
    assert done.report()["simulated"]["device_to_host_copies"] == 1


TRAINING = """
import json, torch
from torch import nn
torch.cuda.memory._record_memory_history(max_entries=100000) if NATIVE else None
model = nn.Sequential(nn.Embedding(1000, 256), nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
ids = torch.arange(512).view(2, 256).cuda()
for _ in range(3):
    mask = nn.Transformer.generate_square_subsequent_mask(256, device="cuda")
    hidden = model[1](model[0](ids), src_mask=mask)
    chosen = hidden[ids > 3]
    chosen.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
trace = []
if NATIVE:
    base = {}
    for event in torch.cuda.memory._snapshot()["device_traces"][0]:
        trace.append((event["action"], event["addr"], event["size"]))
stats = {k: v for k, v in torch.cuda.memory_stats().items()}
print(json.dumps([trace, stats]))
"""


@pytest.mark.parametrize("allocator", ["memtrace", "native"])
def test_host_values_do_not_change_allocations(allocator, tmp_path):
    """The mask's count is true with host values, so the script is given one that passes the same number without."""
    script = f"NATIVE = {allocator == 'native'}\n" + TRAINING.replace("hidden[ids > 3]", "hidden[:, 3:]")
    on, off = (
        on_card(script, tmp_path, options=("--allocator", allocator, "--host-values", values)).printed()
        for values in ("on", "off")
    )
    assert allocator == "memtrace" or len(on[0]) > 300
    assert on == off


KERNEL = """
import json, sys, torch, triton
import triton.language as tl

@triton.jit
def twice(pointer, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(pointer + at, tl.load(pointer + at, mask=at < n) * 2, mask=at < n)

def on_card(values):
    return torch.tensor(values).cuda()

def launch(tensor):
    twice[(1,)](tensor, 64, BLOCK=64)

given, kept = on_card([1] * 64), on_card([3] * 64)
masks = [on_card([[False] * 50 + [True] * 50] * 4) for _ in range(5)]
hidden = torch.randn(4, 100, 8, device="cuda", requires_grad=True)
picked = [hidden[mask] for mask in masks]
launch(given)
said = {"kept": kept[5].item(), "given": given[5].item(), "other mask": int(masks[0].sum())}
picked[0].sum().backward()
said["backward"] = list(hidden.grad.shape)
launch(masks[1])
picked[1].sum().backward()
said["given mask"] = len(hidden[masks[1]])
masks[2][:, :75] = False
said["written"] = len(hidden[masks[2]])
launch(masks[3])
masks[3].logical_not_()
said["given, then written"] = len(hidden[masks[3]])
masks[4].zero_()
said["none"] = len(hidden[masks[4]])
launch(masks[4])
said["none, then given"] = len(hidden[masks[4]])
print(json.dumps(said))
"""


def test_user_kernel_makes_its_arguments_unknown(tmp_path):
    pytest.importorskip("triton", reason="Triton is not installed")
    assert on_card(KERNEL, tmp_path, options=ON).printed() == {
        "kept": 3,
        "given": 0,  # the policy's answer for an unknown number
        "other mask": 200,
        "backward": [4, 100, 8],
        "given mask": 200,
        "written": 100,
        "given, then written": 400,  # all elements, the policy's count
        "none": 0,
        "none, then given": 400,
    }


def test_zeros_of_any_size_are_known_without_their_bytes(tmp_path):
    program = """
import json, resource, torch
x = torch.zeros(28 << 30, dtype=torch.int8, device="cuda")
y = torch.full((1 << 30,), 0, device="cuda")
known = [x[27 << 30].item(), y[5].item()]
print(json.dumps([*known, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20]))
"""
    zero, other, host_gib = on_card(program, tmp_path, card="64GiB").printed()
    assert (zero, other) == (0, 0)
    assert host_gib < 4
