# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the real torch on the stand-ins of cuDNN, cuBLAS, cuSOLVER, cuSPARSE and cuFFT."""

import pytest
from support.programs import MIB, on_card

# counted(function, ...) returns a result and how often each library call was counted during it.
PRELUDE = """
import ctypes, json, torch
import torch.nn.functional as F

driver = ctypes.CDLL("libcuda.so.1")
visitor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)

def calls():
    found = {}
    driver.memtrace_card_visit_kernels(visitor(lambda _, name, count: found.__setitem__(name.decode(), count)), None)
    return {name: count for name, count in found.items() if name.startswith(("cuDNN ", "cudnn"))}

def counted(function, *arguments):
    before = calls()
    result = function(*arguments)
    return result, {name: count - before.get(name, 0) for name, count in calls().items() if count > before.get(name, 0)}

def shapes(module, x):
    y = module(x)
    y = y[0] if isinstance(y, tuple) else y
    y.sum().backward()
    return [list(y.shape), list(x.grad.shape)] + [list(p.grad.shape) for p in module.parameters()]

def pair(make, *size, **options):
    '''Shapes of output and gradients on the card and, from the same code without any library, on meta.'''
    x = torch.empty(*size, requires_grad=True, **options)
    meta = torch.empty(*size, requires_grad=True, device="meta", **{k: v for k, v in options.items() if k != "device"})
    with torch.device("meta"):
        wanted = shapes(make().to(x.dtype), meta)
    with torch.device("cuda"):
        module = make().to(x.dtype)
    return counted(shapes, module, x) + (wanted,)
"""
CUDNN_CONVOLUTION = {
    "cuDNN convolution forward": 1,
    "cuDNN convolution backward data": 1,
    "cuDNN convolution backward filter": 1,
}


def test_convolutions_run_on_cudnn_with_torchs_shapes(tmp_path):
    script = (
        PRELUDE
        + """
from torch import nn
cases = {
    "2d": (lambda: nn.Conv2d(16, 32, 3, padding=1), (2, 16, 24, 24), torch.float16),
    "strided": (lambda: nn.Conv2d(16, 32, 3, stride=2, dilation=2), (2, 16, 25, 24), torch.bfloat16),
    "groups": (lambda: nn.Conv2d(16, 32, 3, groups=4), (2, 16, 24, 24), torch.float32),
    "1d": (lambda: nn.Conv1d(16, 32, 3), (2, 16, 50), torch.float32),
    "3d": (lambda: nn.Conv3d(16, 32, 3), (2, 16, 8, 12, 12), torch.float16),
    "transposed": (lambda: nn.ConvTranspose2d(16, 8, 3, stride=2, output_padding=1), (2, 16, 12, 12), torch.float16),
    "double": (lambda: nn.Conv2d(16, 32, 1), (2, 16, 12, 12), torch.float64),
}
said = {}
for name, (make, size, dtype) in cases.items():
    said[name] = pair(make, *size, dtype=dtype, device="cuda")
torch.backends.cudnn.benchmark = True
said["benchmark"] = pair(lambda: nn.Conv2d(16, 24, 5), 2, 16, 24, 24, dtype=torch.float16, device="cuda")
print(json.dumps(said))
"""
    )
    said = on_card(script, tmp_path, card="8GiB").printed()
    benchmark = said.pop("benchmark")
    for name, (shapes, calls, wanted) in said.items():
        assert shapes == wanted, name
        assert calls == CUDNN_CONVOLUTION, name
    assert benchmark[0] == benchmark[2]
    assert set(benchmark[1]) == set(CUDNN_CONVOLUTION)
    assert min(benchmark[1].values()) > 1, "benchmarking tries several"


def test_convolutions_take_the_stated_workspace_from_torch(tmp_path):
    script = (
        PRELUDE
        + """
def workspace(memory_format, dtype=torch.float16):
    with torch.no_grad():
        x = torch.empty(4, 16, 64, 64, device="cuda", dtype=dtype).to(memory_format=memory_format)
        module = torch.nn.Conv2d(16, 32, 3, padding=1, device="cuda", dtype=dtype).to(memory_format=memory_format)
        torch.cuda.reset_peak_memory_stats()
        y = module(x)
        stats = torch.cuda.memory_stats()
        return stats["requested_bytes.all.peak"] - stats["requested_bytes.all.current"]

said = [workspace(torch.contiguous_format), workspace(torch.channels_last)]
said.append(workspace(torch.contiguous_format, torch.float64))
said.append(workspace(torch.contiguous_format, torch.float32))
torch.backends.cudnn.allow_tf32 = False
said.append(workspace(torch.contiguous_format, torch.float32))
print(json.dumps(said))
"""
    )
    halves, channels_last, doubles, floats, floats_without_tf32 = on_card(script, tmp_path, card="8GiB").printed()
    # input 4 x 16 x 64 x 64, filter 32 x 16 x 3 x 3, output 4 x 32 x 64 x 64, two bytes each
    assert halves == 2 * (4 * 16 * 64 * 64 + 32 * 16 * 9 + 4 * 32 * 64 * 64)
    assert floats == 4 * (4 * 16 * 64 * 64 + 32 * 16 * 9), "its output is not copied"
    assert [channels_last, doubles, floats_without_tf32] == [0, 0, 0]


def test_wide_and_strided_convolutions_in_tf32_take_their_own_workspace(tmp_path):
    script = (
        PRELUDE
        + """
def workspace(channels, size, **how):
    with torch.no_grad():
        x = torch.empty(1, channels, size, size, device="cuda")
        module = torch.nn.Conv2d(channels, channels, device="cuda", **how)
        torch.cuda.reset_peak_memory_stats()
        y = module(x)
        stats = torch.cuda.memory_stats()
        return stats["requested_bytes.all.peak"] - stats["requested_bytes.all.current"]

torch.backends.cudnn.allow_tf32 = True
window = dict(kernel_size=3, padding=1)
said = [workspace(512, 128, **window), workspace(256, 128, **window), workspace(512, 128, kernel_size=1)]
print(json.dumps([*said, workspace(512, 129, kernel_size=3, stride=2)]))
"""
    )
    run = on_card(script, tmp_path, card="8GiB,cc=8.9")
    wide, narrow, pointwise, strided = run.printed()
    mib = 1 << 20
    # 512 x 128 x 128 x 4 bytes are 32 MiB; the filter of 3 x 3 has 9 MiB.
    assert wide == (4 * 32 + 9 + 1) * mib
    assert narrow == 16 * mib + 256 * 256 * 9 * 4
    assert pointwise == 32 * mib, "a filter of one element has one order"
    assert strided == 0
    # The first one has the peak.
    peak = run.report()["peak"]
    assert peak["assumed_bytes"] == wide
    assert {"name": "cuDNN workspace, size assumed", "bytes": wide} in [
        {name: row[name] for name in ("name", "bytes")} for row in peak["by_site"]
    ]


def test_assumed_reserve_of_a_recurrent_network_is_reported(tmp_path):
    script = """
import torch

network = torch.nn.LSTM(64, 128, 2, device="cuda")
output, _ = network(torch.empty(100, 32, 64, device="cuda"))
"""
    peak = on_card(script, tmp_path, card="8GiB").report()["peak"]
    # Reserve: 100 steps of 32 sequences, 2 layers of 4 gates and a state, the values passed between them, and 256
    # bytes; workspace: the gates, the weights in another order, and 8 MiB.
    weights = 4 * 128 * (64 + 128) + 4 * 128 * (128 + 128) + 2 * 8 * 128
    assert peak["assumed_bytes"] == 4 * (100 * 32 * (2 * 5 * 128 + 128 + 4 * 128) + weights) + 256 + (8 << 20)


def test_full_card_uses_the_convolution_without_workspace(tmp_path):
    script = (
        PRELUDE
        + """
module = torch.nn.Conv2d(16, 16, 3, padding=1, device="cuda", dtype=torch.float16)
x = torch.empty(64, 16, 256, 256, device="cuda", dtype=torch.float16)
rest = torch.cuda.mem_get_info()[0] - (160 << 20)
held = torch.empty(rest, dtype=torch.uint8, device="cuda")
with torch.no_grad():
    print(json.dumps(list(module(x).shape)))
"""
    )
    # the output takes 128 MiB, the workspace would take 256
    assert on_card(script, tmp_path, card="2GiB").printed() == [64, 16, 256, 256]


def test_normalization_and_recurrent_networks_run_on_cudnn(tmp_path):
    script = (
        PRELUDE
        + """
from torch import nn
said = {
    "norm": pair(lambda: nn.BatchNorm2d(16), 4, 16, 12, 12, device="cuda"),
    "lstm": pair(lambda: nn.LSTM(20, 30, 2, bidirectional=True, dropout=0.1), 7, 5, 20, device="cuda"),
    "projected": pair(lambda: nn.LSTM(20, 30, 2, proj_size=10), 7, 5, 20, device="cuda"),
    "gru": pair(lambda: nn.GRU(20, 30, 2, batch_first=True, bias=False), 5, 7, 20, device="cuda", dtype=torch.float16),
    "plain": pair(lambda: nn.RNN(20, 30), 7, 5, 20, device="cuda"),
}
lstm = nn.LSTM(20, 30, 2, device="cuda")
weights = [p.data_ptr() for p in lstm.parameters()]
said["flat"] = max(weights) - min(weights) < 4 * sum(p.numel() for p in lstm.parameters())
print(json.dumps(said))
"""
    )
    said = on_card(script, tmp_path, card="8GiB").printed()
    assert said.pop("flat"), "the weights lie in one buffer"
    for name, (shapes, calls, wanted) in said.items():
        assert shapes == wanted, name
        used = {"cudnnBatchNormalizationForwardTrainingEx", "cudnnBatchNormalizationBackwardEx"}
        if name != "norm":
            used = {"cudnnRNNForward", "cudnnRNNBackwardData_v8", "cudnnRNNBackwardWeights_v8"}
        assert used <= set(calls), name


ATTENTION = (
    PRELUDE
    + """
def attention(kv_heads=8, mask=None, dtype=torch.bfloat16, **options):
    q, k, v = (torch.empty(2, heads, 192, 64, device="cuda", dtype=dtype, requires_grad=True)
               for heads in (8, kv_heads, kv_heads))
    if mask is not None:
        mask = torch.ones(2, 1, 192, 192, device="cuda", dtype=mask)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=kv_heads != 8, **options)
    out.sum().backward()
    return [list(out.shape), list(q.grad.shape), list(k.grad.shape)]

print(json.dumps([
    counted(attention),
    counted(lambda: attention(is_causal=True)),
    counted(lambda: attention(mask=torch.bfloat16)),
    counted(lambda: attention(mask=torch.bool)),
    counted(lambda: attention(kv_heads=2, is_causal=True)),
    counted(lambda: attention(dropout_p=0.1, dtype=torch.float16)),
]))
"""
)


def test_attention_uses_cudnn_from_capability_9(tmp_path):
    said = on_card(ATTENTION, tmp_path, card="h100-80gb").printed()
    for shapes, calls in said:
        assert shapes[0] == shapes[1] == [2, 8, 192, 64]
        assert calls == {"cuDNN attention forward": 1, "cuDNN attention backward": 1}
    assert said[4][0][2] == [2, 2, 192, 64]


def test_attention_uses_torchs_kernels_below_capability_9(tmp_path):
    said = on_card(ATTENTION, tmp_path, card="a100-80gb").printed()
    assert [calls for _, calls in said] == [{}] * 6


@pytest.mark.parametrize(("card", "mib"), [("8GiB,cc=8.0", 8.125), ("8GiB,cc=9.0", 32), ("8GiB,cc=10.0", 8.125)])
def test_cublas_workspace_follows_the_capability(card, mib, tmp_path):
    script = """
import torch
a = torch.empty(64, 64, device="cuda")
before = torch.cuda.memory_stats()["requested_bytes.all.current"]
b = a @ a
print(torch.cuda.memory_stats()["requested_bytes.all.current"] - before - b.nbytes)
"""
    assert on_card(script, tmp_path, card=card).printed() == mib * MIB


def test_unsupported_functions_are_named_and_reported(tmp_path):
    script = """
import json, torch

def message(function):
    try:
        function()
    except RuntimeError as error:
        return str(error)

a = torch.eye(8, device="cuda")
print(json.dumps([
    message(lambda: torch.linalg.qr(a)),
    message(lambda: torch.sparse.mm(torch.eye(8).to_sparse_csr().cuda(), a)),
]))
"""
    run = on_card(script, tmp_path, card="8GiB")
    qr, sparse = run.printed()
    assert "cusolverDnXgeqrf" in qr
    assert "simulated card does not have this operation of cuSPARSE" in sparse and "cusparseSpMM" in sparse
    assert "the simulated card does not have cusparseSpMM_bufferSize" in run.err
    assert set(run.report()["simulated"]["unsupported"]) == {
        "cusolverDnXgeqrf_bufferSize",
        "cusparseSpMM_bufferSize",
    }


def test_transforms_run_without_values(tmp_path):
    script = """
import json, torch

sound = torch.zeros(4, 160000, device="cuda")
spectrum = torch.stft(sound, 400, 160, window=torch.hann_window(400, device="cuda"), return_complex=True)
image = torch.fft.irfft2(torch.fft.rfft2(torch.zeros(2, 256, 256, device="cuda")))
torch.cuda.reset_peak_memory_stats()
before = torch.cuda.memory_allocated()
long = torch.zeros(8, 65536, dtype=torch.complex64, device="cuda")
torch.fft.fft(long)
print(json.dumps([list(spectrum.shape), list(image.shape), torch.cuda.max_memory_allocated() - before]))
"""
    run = on_card(script, tmp_path, card="8GiB")
    spectrum, image, peak = run.printed()
    assert (spectrum, image) == ([4, 201, 1001], [2, 256, 256])
    assert peak == 3 * 8 * 65536 * 8, "input, output and the signal once more"
    assert "unsupported" not in run.report()["simulated"] or not run.report()["simulated"]["unsupported"]


def test_cholesky_and_eigenvalues_succeed_without_values(tmp_path):
    script = """
import json, torch

a = torch.eye(48, device="cuda")
factor, info = torch.linalg.cholesky_ex(a)
values, vectors = torch.linalg.eigh(a)
batch, _ = torch.linalg.eigh(torch.eye(6, device="cuda").expand(3, 6, 6))
print(json.dumps([list(factor.shape), info.item(), list(torch.linalg.cholesky(a).shape), list(values.shape),
                  list(vectors.shape), list(batch.shape)]))
"""
    run = on_card(script, tmp_path, card="8GiB")
    assert run.printed() == [[48, 48], 0, [48, 48], [48], [48, 48], [3, 6]]
    simulated = run.report()["simulated"]
    assert simulated["unsupported"] == {}
    assert simulated["assumed_workspaces"] == 4


def test_small_unet_and_resnet_train_a_step(tmp_path):
    script = (
        PRELUDE
        + """
from torch import nn

class Residual(nn.Module):
    def __init__(self, norm, inside, outside, stride=1):
        super().__init__()
        self.first = nn.Sequential(norm(inside), nn.SiLU(), nn.Conv2d(inside, outside, 3, stride, padding=1))
        self.second = nn.Sequential(norm(outside), nn.SiLU(), nn.Conv2d(outside, outside, 3, padding=1))
        self.skip = nn.Conv2d(inside, outside, 1, stride)

    def forward(self, x):
        return self.skip(x) + self.second(self.first(x))

class Attention(nn.Module):
    def __init__(self, channels, heads=4):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(x.flatten(2).transpose(1, 2)).view(b, h * w, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, h * w, c)
        return x + self.out(y).transpose(1, 2).view(b, c, h, w)

class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        norm = lambda channels: nn.GroupNorm(8, channels)
        self.into, self.down = nn.Conv2d(4, 32, 3, padding=1), Residual(norm, 32, 64, stride=2)
        self.middle = nn.Sequential(Residual(norm, 64, 64), Attention(64), Residual(norm, 64, 64))
        self.up, self.last = nn.ConvTranspose2d(64, 32, 2, stride=2), Residual(norm, 64, 32)
        self.out = nn.Conv2d(32, 4, 3, padding=1)

    def forward(self, x):
        x = self.into(x)
        return self.out(self.last(torch.cat([x, self.up(self.middle(self.down(x)))], 1)))

resnet = lambda: nn.Sequential(nn.Conv2d(4, 16, 7, 2, 3), Residual(nn.BatchNorm2d, 16, 32, 2), nn.AdaptiveAvgPool2d(1))
size = (2, 4, 32, 32)
print(json.dumps([pair(Unet, *size, device="cuda", dtype=torch.bfloat16), pair(resnet, *size, device="cuda")]))
"""
    )
    (unet, unet_calls, unet_on_meta), (resnet, resnet_calls, resnet_on_meta) = on_card(
        script, tmp_path, card="h100-80gb"
    ).printed()
    assert unet == unet_on_meta
    assert resnet == resnet_on_meta
    # 1 into, 3 down, 2 x 3 in the middle, 1 up, 3 last, 1 out. The one up is transposed: its forward pass
    # is a convolution's backward pass to the data, and the reverse.
    assert unet_calls == {
        "cuDNN convolution forward": 15,
        "cuDNN convolution backward data": 15,
        "cuDNN convolution backward filter": 15,
        "cuDNN attention forward": 1,
        "cuDNN attention backward": 1,
    }
    assert resnet_calls["cudnnBatchNormalizationForwardTrainingEx"] == 2
    assert resnet_calls["cuDNN convolution forward"] == 4
