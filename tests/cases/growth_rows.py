# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose memory grows, with and without an optimizer."""

from case_row import NATIVE, Row
from expectations import (
    KIB,
    MIB,
    advises,
    advises_nothing_like,
    ends_with,
    grows,
    grows_as_printed,
    nothing_fits_but,
    runs_out,
    says,
    says_nothing_of,
)

DOES_NOT_END_IT = advises_nothing_like("second copy", "half the (micro-)?batch", "expandable", "memtrace's allocator")

ROWS = [
    # Logits of 2 x 512 x 50,257 floats are 196.3 MiB a batch of the validation; each step has one.
    Row(
        "c22_lightning.py",
        "12GiB",
        "The validation's outputs are kept: do not keep what line 18 makes. Nothing else is said to fit.",
        (
            runs_out("capacity"),
            grows(2 * 512 * 50257 * 4, within=50_000_000),
            says("c22_lightning.py:18"),
            advises("c22_lightning.py:18|line 18", first=True),
            nothing_fits_but("line 18", "c22_lightning.py:18"),
        ),
        reported="Lightning#8453",
        allocator=NATIVE,
        frameworks=True,
    ),
    Row(
        "c22_lightning.py",
        "12GiB",
        "fit does not say that the program completed: the validation was not seen, or it runs out in a later one.",
        (
            says_nothing_of("completed on the card", "^FITS\\. "),
            says("an evaluation|was not seen|DOES NOT FIT|RUNS OUT"),
        ),
        reported="Lightning#8453",
        frameworks=True,
        fit="",
        seconds=600,
    ),
    Row(
        "retry_batch.py",
        "8GiB",
        "Sample 38 is longer: fit says that later steps were not seen, or that it does not fit.",
        (says_nothing_of("completed on the card", "^FITS\\. "), says("was not seen|DOES NOT FIT")),
        reported="rfcs#108 class",
        fit="",
        seconds=600,
    ),
    # out.mean(1) is 256 x 768 floats; its rows are views that keep it whole.
    Row(
        "c11_encode.py 12000",
        "8GiB",
        "Embeddings stay on the card: 768 KiB a forward call, made in line 13, in the list `kept`.",
        (
            runs_out("capacity"),
            grows(768 * KIB, line="c11_encode.py:13", within=KIB),
            advises("c11_encode.py:13|line 13", first=True),
            DOES_NOT_END_IT,
        ),
        reported="sentence-transformers#1244",
    ),
    *(
        Row(
            script,
            "3GiB",
            f"The history keeps the graph of each step, because line {keeps} keeps what carries it.",
            (
                grows_as_printed("(\\d+) ([\\d.]+) MB", unit=1e6),
                grows(line=f"{script}:{line}"),
                says(f"{script}:{keeps}|line {keeps}"),
                advises("detach", first=True),
                DOES_NOT_END_IT,
            ),
            reported="TorchSim#559",
        )
        for script, line, keeps in (("c26_history_graph.py", "(10|11)", 14), ("c26_steps.py", "(11|12)", 15))
    ),
    # 256 x 64 x 512 floats of embeddings, 256 x 1024 of the ReLU, the ids and some results: 33.2 MiB a forward call.
    Row(
        "c21_loss_sum.py",
        "3GiB",
        "The sum of the losses (line 10) keeps the graph of each step, made in line 9: detach, or no_grad.",
        (
            runs_out("capacity", "c21_loss_sum.py:9"),
            grows_as_printed("(\\d+) (\\d+)", unit=MIB),
            grows(line="c21_loss_sum.py:9"),
            advises("detach|no_grad", first=True),
            DOES_NOT_END_IT,
        ),
        reported="pytorch#17568",
    ),
    # The output of net[4] is 4096 x 1024 floats.
    Row(
        "c20_hook_features.py",
        "3GiB",
        "A hook keeps each output of module 4 (line 7): 16 MiB a step.",
        (
            runs_out("capacity"),
            grows(16 * MIB, within=KIB),
            says("c20_hook_features.py:(7|12)"),
            says_nothing_of(" activation\\*? +\\* "),
            advises("keep|detach|hook", first=True),
            DOES_NOT_END_IT,
        ),
        reported="function_vectors#18",
    ),
    # The program needs some 600 MiB at first; 781 KiB a step fill the rest within some 130 steps.
    Row(
        "looper.py 1000",
        "700MiB",
        "fit follows the growth to the step that fails.",
        (says("RUNS OUT IN STEP [0-9]+"), says("looper.py:5")),
        fit="--watch 3 --no-remedies",
        seconds=600,
    ),
    # Without an optimizer the program has no steps, so it is run until it fails.
    Row(
        "c26_history_graph.py",
        "3GiB",
        "fit runs the program until its history has filled the card.",
        (says("DOES NOT FIT"), says_nothing_of("^FITS\\. ")),
        fit="--no-remedies",
        seconds=600,
    ),
    # 100 x 2000 floats.
    Row(
        "looper.py 8",
        "4GiB",
        "Line 5 grows by 781 KiB a step; the jump of the first step is not part of it.",
        (ends_with(0), grows(800_000, line="looper.py:5", within=3_000)),
    ),
]
