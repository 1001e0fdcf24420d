# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Any impossible request of the simulated card costs one sentence and the right status, however it is made."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import memtrace as package
import pytest
from support.programs import MEMTRACE, memtrace, on_card

BUILD = Path(os.environ["MEMTRACE_BUILD"])
CARD = Path(package.__file__).parent / "lib" / "simulated_card"
HERE = BUILD / "tests/interpose/simulated_card"
STATIC_PROGRAM = HERE / "static_runtime_program"
PRETENDED_DRIVER = HERE / "pretended_driver" / "libcuda.so.1"

NO_PROFILE = (
    "card 'voodoo': there is no profile 'voodoo'; write one of: a10, a100-40gb, a100-80gb, a40, "
    "a800-40gb, a800-80gb, b200, gh200-144gb, gh200-96gb, h100-80gb, h20, h20-141gb, h200, h800, l20, l4,"
    " l40, l40s, rtx-3080, rtx-3080-12gb, rtx-3090, rtx-4060-ti-16gb, rtx-4060-ti-8gb, rtx-4090, "
    "rtx-4090d, rtx-5090, rtx-6000-ada, rtx-a6000, t4, v100-16gb, v100-32gb, or a size such as 24GiB"
)
TOO_SMALL = (
    "card '400MiB': context (500 MiB) and other (0 MiB) do not fit into 400 MiB; "
    "write a larger card or smaller context= and other="
)
TOO_MANY = "card '17x1GiB': the number of cards must be 1 to 16, not 17"
WRONG = [("voodoo", NO_PROFILE), ("400MiB", TOO_SMALL), ("17x1GiB", TOO_MANY)]


def python(script: str, *, limits=None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a Python program without `memtrace run`; `limits` is called in the child before it starts."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=limits,
    )


def said(text: str) -> list[str]:
    return [line.removeprefix("memtrace: ") for line in text.splitlines() if line.startswith("memtrace: ")]


ASKS_THE_DRIVER = f"""
import ctypes
driver = ctypes.CDLL({str(CARD / "libcuda.so.1")!r})
print(driver.cuInit(0), flush=True)
"""


@pytest.mark.parametrize(("card", "sentence"), WRONG)
def test_invalid_card_is_rejected_by_run(card, sentence):
    run = memtrace("run", "--card", card, "--", sys.executable, "-c", "print('ran')")
    assert run.status == 2
    assert run.out == ""
    assert run.err == f"memtrace: {sentence}\n"


@pytest.mark.parametrize(("card", "sentence"), WRONG)
def test_invalid_card_is_rejected_in_python_and_loads_nothing(card, sentence):
    done = python(f"""
import memtrace, os
before = dict(os.environ)
try:
    memtrace.simulated_card({card!r})
except ValueError as error:
    print(error)
assert dict(os.environ) == before
assert "simulated_card" not in open("/proc/self/maps").read()
""")
    assert (done.returncode, done.stdout) == (0, sentence + "\n"), done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        *(("MEMTRACE_CARD", card, sentence) for card, sentence in WRONG),
        (
            "MEMTRACE_CARD_COPY_LIMIT",
            "64MiB",
            "'64MiB' is not a number of bytes; write for example 67108864 for 64 MiB",
        ),
    ],
)
def test_invalid_variable_prints_one_sentence_and_gives_no_device(variable, value, sentence):
    environment = {"MEMTRACE_CARD": "1GiB", variable: value}
    done = python(ASKS_THE_DRIVER, **environment)
    assert done.stdout == "100\n"
    assert said(done.stderr) == [f"{variable}: {sentence}"]


@pytest.mark.parametrize(("card", "sentence"), WRONG)
def test_invalid_card_variable_ends_a_program_that_imports_torch(card, sentence):
    inject = Path(package.__file__).parent / "inject"
    done = python("import torch; print('imported')", MEMTRACE_CARD=card, PYTHONPATH=str(inject))
    assert (done.returncode, done.stdout, done.stderr) == (5, "", f"memtrace: {sentence}\n")


def test_program_with_a_static_runtime_is_named():
    run = memtrace("run", "-q", "--card", "1GiB", "--", str(STATIC_PROGRAM))
    assert run.status != 0
    assert said(run.err) == [
        f"{STATIC_PROGRAM} has its own CUDA runtime linked in, which the simulated card cannot serve: "
        "its CUDA calls fail; link it with the shared libcudart instead"
    ]


USES_THE_CARD = """
import torch
print(torch.cuda.mem_get_info()[1] >> 20)
print(any("pretended_driver" in line for line in open("/proc/self/maps")))
"""


def test_run_reports_that_the_installed_driver_is_not_used(tmp_path):
    (tmp_path / "train.py").write_text(USES_THE_CARD)
    command = [MEMTRACE, "run", "--card", "1GiB", "-o", tmp_path / "run.trace", "--", sys.executable, "train.py"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "LD_LIBRARY_PATH": str(PRETENDED_DRIVER.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "1024\nFalse\n", done.stderr
    assert "asked" not in done.stderr
    assert said(done.stderr)[0] == (
        f"the program uses only the simulated card, not NVIDIA's driver {PRETENDED_DRIVER}; "
        "without --card it uses the driver"
    )
    assert sum("NVIDIA" in sentence for sentence in said(done.stderr)) == 1


def test_python_reports_that_the_installed_driver_is_not_used():
    script = "import memtrace; memtrace.simulated_card('1GiB')" + USES_THE_CARD
    done = python(script, LD_LIBRARY_PATH=str(PRETENDED_DRIVER.parent))
    assert done.stdout == "1024\nFalse\n", done.stderr
    assert said(done.stderr) == [f"This program uses only the simulated card, not NVIDIA's driver {PRETENDED_DRIVER}."]


def test_python_does_not_mistake_the_card_for_a_real_driver():
    # `memtrace run --card` puts it on the loader's path of programs other than Python, which may start Python.
    script = "import memtrace; memtrace.simulated_card('1GiB')" + USES_THE_CARD
    done = python(script, LD_LIBRARY_PATH=str(CARD))
    assert done.stdout == "1024\nFalse\n", done.stderr
    assert not [sentence for sentence in said(done.stderr) if str(CARD) in sentence]


LOADS_THE_OTHER_DRIVER = f"import ctypes; other = ctypes.CDLL({str(PRETENDED_DRIVER)!r})\n"


def test_python_rejects_the_card_if_another_driver_is_loaded():
    script = LOADS_THE_OTHER_DRIVER + "import memtrace; memtrace.simulated_card('1GiB')"
    done = python(script)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"RuntimeError: {PRETENDED_DRIVER} is already loaded in this process and cannot be used with the "
        "simulated card. Load the simulated card before anything that uses CUDA is imported."
    )


def test_run_ends_a_program_that_loads_another_driver_before_torch(tmp_path):
    run = on_card(LOADS_THE_OTHER_DRIVER + "import torch; print('imported')", tmp_path, expect=5, warm=False)
    assert run.out == ""
    assert [str(PRETENDED_DRIVER) in sentence for sentence in said(run.err)] == [True]


def test_simulated_driver_does_not_start_beside_another():
    done = python(LOADS_THE_OTHER_DRIVER + ASKS_THE_DRIVER + "print(driver.cuInit(0))", MEMTRACE_CARD="1GiB")
    assert done.stdout == "100\n100\n"
    assert said(done.stderr) == [
        f"another CUDA driver ({PRETENDED_DRIVER}) is loaded in this process beside the simulated card, which refuses "
        "to work with it; load the card first, as memtrace run --card does, or run without one"
    ]


def at_most(what: int, amount: int):
    return lambda: resource.setrlimit(what, (amount, amount))


PINS = (
    ASKS_THE_DRIVER
    + """
context = ctypes.c_void_p()
print(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), driver.cuCtxSetCurrent(context))
for size in (4 << 30, 1 << 20):
    print(driver.cuMemHostAlloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(size), 0))
"""
)


def test_failed_pinned_allocation_prints_one_sentence():
    done = python(PINS, limits=at_most(resource.RLIMIT_AS, 2 << 30), MEMTRACE_CARD="8GiB")
    assert done.stdout == "0\n0 0\n2\n0\n", done.stderr
    assert said(done.stderr) == [
        "the host refuses 4294967296 bytes for pinned or managed memory (Cannot allocate memory): the call fails as "
        "out of memory, because of the host and not the card; raise the limit on addresses (ulimit -v), or let the "
        "host overcommit (vm.overcommit_memory)"
    ]


def test_card_larger_than_the_hosts_limit_costs_nothing():
    script = """
import memtrace
memtrace.simulated_card("640GiB")
import torch
kept = [torch.empty(100 << 30, dtype=torch.uint8, device="cuda") for _ in range(6)]
print(torch.ones(1 << 20).to("cuda").cpu().sum().item())
"""
    done = python(script, limits=at_most(resource.RLIMIT_AS, 16 << 30))
    assert (done.stdout, done.stderr) == ("1048576.0\n", "")


def test_dropped_contents_print_one_sentence_and_sizes_stay_exact():
    script = """
import memtrace
memtrace.simulated_card("1GiB,context=0MiB")
import torch
x = torch.ones(1 << 20).to("cuda")
print(x.cpu().sum().item(), torch.cuda.mem_get_info()[0] >> 20)
"""
    done = python(script, limits=at_most(resource.RLIMIT_FSIZE, 1 << 20))
    assert done.stdout == f"0.0 {1024 - 20}\n", done.stderr  # torch takes 20 MiB for it
    assert len(said(done.stderr)) == 1
    assert "(File too large)" in said(done.stderr)[0]


def test_card_that_cannot_be_loaded_prints_one_sentence():
    script = """
import memtrace, resource
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used, used))
memtrace.simulated_card("1GiB")
"""
    done = python(script)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: The simulated card cannot be loaded (")
    assert "ulimit -v" in last
