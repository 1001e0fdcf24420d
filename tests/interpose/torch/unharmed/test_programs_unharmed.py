# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that work with stock torch work under memtrace, even if they inspect torch closely or are unusual."""

import os
import subprocess
import sys
import textwrap

import pytest
from support.programs import Finished, on_card

PROGRAMS = {
    "modules are copied, pickled and scripted": """
        import copy, io
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).cuda()
        copy.deepcopy(model)(torch.zeros(2, 4, device="cuda"))
        torch.save(model, io.BytesIO())
        scripted = torch.jit.script(model)
        scripted(torch.zeros(2, 4, device="cuda"))
        torch.jit.trace(model, torch.zeros(2, 4, device="cuda"))
    """,
    "autograd's functions are scripted": """
        from typing import List, Optional
        @torch.jit.script
        def slope(x: torch.Tensor) -> List[Optional[torch.Tensor]]:
            return torch.autograd.grad([(x * x).sum()], [x])
        slope(torch.ones(2, device="cuda", requires_grad=True))
    """,
    "autograd's functions are pickled": """
        import pickle
        assert pickle.loads(pickle.dumps(torch.autograd.backward)) is torch.autograd.backward
        assert not hasattr(torch.autograd.grad, "__wrapped__")
    """,
    "a whole graph is compiled": """
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        compiled(torch.zeros(2, 4)).sum().backward()
        model(torch.zeros(2, 4))
    """,
    "parameters are swapped, as torch does with those of tensor subclasses": """
        torch.__future__.set_swap_module_params_on_conversion(True)
        model = torch.nn.Linear(4, 4, device="cuda")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.zeros(2, 4, device="cuda")).sum().backward()
        optimizer.step()
        weight = model.weight
        model.half()
        assert model.weight is weight and weight.dtype == weight.grad.dtype == torch.half
        a, b = torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.ones(1))
        torch.utils.swap_tensors(a, b)
        assert a.item() == 1
        kept = __import__("weakref").ref(a)
        try:
            torch.utils.swap_tensors(a, b)
        except RuntimeError as error:
            assert "weakref" in str(error)
        else:
            raise AssertionError
    """,
    "a model is traced symbolically, exported, compiled in its place": """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
            def forward(self, x, *, factor=1):
                return self.layers(x) * factor
        model, x = Model(), torch.zeros(2, 4)
        calls = [node.target for node in torch.fx.symbolic_trace(model).graph.nodes if node.op == "call_module"]
        assert calls == ["layers.0", "layers.1"], calls
        model(x, factor=2)
        torch.export.export(model, (x,), {"factor": 2}).module()(x, factor=2)
        breaks = torch._dynamo.explain(model)(x).graph_break_count
        assert breaks == 0, breaks
        model.compile(backend="aot_eager", fullgraph=True)
        model(x).sum().backward()
    """,
    "modules that cannot be hashed or compared": """
        class Odd(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(2, 2)
            def __eq__(self, other):
                raise ValueError("never compare")
            __hash__ = None
            def forward(self, x):
                return self.inner(x)
        Odd.__hash__ = None
        class Outer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.list = [Odd()]
            def forward(self, x):
                return self.list[0](x)
        Outer()(torch.zeros(2, 2))
        Odd().inner(torch.zeros(2, 2))
    """,
    "parameters without a shape yet": """
        model = torch.nn.Sequential(torch.nn.LazyLinear(3, device="cuda"), torch.nn.LazyBatchNorm1d(device="cuda"))
        model(torch.zeros(2, 4, device="cuda")).sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
    """,
    "fake tensors, which warn whoever asks for their address": """
        import warnings
        from torch._subclasses.fake_tensor import FakeTensorMode
        with FakeTensorMode(), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model = torch.nn.Linear(4, 4, device="cuda")
            model(torch.zeros(2, 4, device="cuda")).sum().backward()
            torch.optim.AdamW(model.parameters()).step()
        assert not [warning for warning in warned if "data pointer" in str(warning.message)]
    """,
    "a mode that counts the program's calls": """
        from torch.overrides import TorchFunctionMode
        class Counting(TorchFunctionMode):
            count = 0
            def __torch_function__(self, function, types, args=(), kwargs=None):
                Counting.count += 1
                return function(*args, **(kwargs or {}))
        parameter = torch.nn.Parameter(torch.zeros(2, device="cuda"))
        optimizer = torch.optim.SGD([parameter], lr=0.1)
        module = torch.nn.Module()
        with Counting():
            module.weight = parameter
        # register_parameter asks for grad_fn and no more
        assert Counting.count <= 1, Counting.count
    """,
    "an error of the program itself": """
        class Broken(torch.nn.Module):
            def forward(self, x):
                raise KeyError("the program's own")
        try:
            Broken()(1)
        except KeyError as error:
            assert error.args == ("the program's own",)
        else:
            raise AssertionError
        try:
            torch.nn.Sequential(Broken())(1, 2)
        except TypeError as error:  # torch's own sentence, with as many frames as without us
            import traceback
            assert "takes 2 positional arguments but 3 were given" in str(error), error
            assert len(traceback.extract_tb(error.__traceback__)) == 3
        else:
            raise AssertionError
    """,
    "an optimizer without groups": """
        class Strange(torch.optim.SGD):
            def step(self, closure=None):
                self.param_groups = None
        Strange([torch.nn.Parameter(torch.zeros(2))], lr=0.1).step()
    """,
    "threads and processes by spawn and fork": """
        import multiprocessing, threading
        torch.zeros(1, device="cuda")
        def idle(*_):
            pass
        worker = threading.Thread(target=lambda: torch.zeros(1 << 20, device="cuda"))
        worker.start(); worker.join()
        child = multiprocessing.get_context("fork").Process(target=idle)
        child.start(); child.join(60)
        assert child.exitcode == 0, child.exitcode
        data = torch.utils.data.DataLoader(torch.arange(8), batch_size=2, num_workers=2)
        assert sum(batch.sum().item() for batch in data) == 28
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_runs_as_without_memtrace(tmp_path, name):
    run = on_card("import torch\n" + textwrap.dedent(PROGRAMS[name]) + "\nprint('done')\n", tmp_path, card="1GiB")
    assert run.out.endswith("done\n")
    assert "could not" not in run.err


def test_find_spec_of_torch_does_not_disable_memtrace(tmp_path):
    script = """
import importlib.util
assert importlib.util.find_spec("torch") is not None   # as transformers and accelerate do
import torch
kept = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
"""
    assert on_card(script, tmp_path, card="1GiB").report()["peak"]["bytes"] == 1 << 20


def test_users_sitecustomize_is_imported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("answer = 42\n")
    run = on_card("import sitecustomize\nprint(sitecustomize.answer)\n", tmp_path, PYTHONPATH=str(tmp_path))
    assert run.out == "42\n"


def test_recomputed_modules_keep_their_full_path(tmp_path):
    script = """
import torch
from torch.utils.checkpoint import checkpoint

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = torch.nn.Sequential(torch.nn.Linear(512, 512))

    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)

model = Model().cuda()
model(torch.zeros(2, 512, device="cuda")).sum().backward()
model.block(torch.zeros(2, 512, device="cuda"))
"""
    sites = {row["name"] for row in on_card(script, tmp_path, card="1GiB").report()["peak"]["by_site"]}
    assert "block.*" in sites, sites


LATE = """
import memtrace
memtrace.simulated_card("1GiB")
import torch
kept = torch.empty(3 << 20, dtype=torch.uint8, device="cuda")
assert memtrace.enable()
more = torch.empty(2 << 20, dtype=torch.uint8, device="cuda")
del kept
print(torch.cuda.memory_stats()["requested_bytes.all.current"])
"""


def test_observing_may_begin_during_the_run(tmp_path):
    trace = tmp_path / "run.trace"
    done = subprocess.run(
        [sys.executable, "-c", LATE],
        env={**os.environ, "MEMTRACE_OUTPUT": str(trace)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    run = Finished(done.returncode, done.stdout, done.stderr, trace)
    assert "CUDA is already in use" in run.err
    assert run.report()["peak"]["bytes"] == 5 << 20
    assert run.stats()["devices"][0]["allocated"] == 2 << 20 == run.printed()


@pytest.mark.parametrize("first", ["torch.cuda.memory._record_memory_history()", "torch.cuda.init()"])
def test_torchs_history_stays_under_program_control(tmp_path, first):
    """The program may ask for it before CUDA's start, which is when observing begins, or after."""
    script = f"""
import torch
{first}
torch.cuda.memory._record_memory_history()
kept = [torch.empty(1 << 20, dtype=torch.uint8, device="cuda") for _ in range(5)]
entries = torch.cuda.memory._snapshot()["device_traces"][0]
print(len([entry for entry in entries if entry["action"] == "alloc" and entry["frames"]]))
"""
    run = on_card(script, tmp_path, card="1GiB", options=("--allocator", "native"))
    assert run.printed() == 5
    assert run.report()["peak"]["bytes"] == 5 << 20


def test_unobservable_allocator_is_unaffected(tmp_path):
    script = "import torch\ntorch.zeros(1, device='cuda')\nprint('done')\n"
    run = on_card(
        script,
        tmp_path,
        card="1GiB",
        options=("--allocator", "native"),
        expect=None,
        PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync",
    )
    assert "terminate" not in run.err and "cannot be observed" in run.err
