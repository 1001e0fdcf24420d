# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated card itself."""

from case_row import NATIVE, Row
from expectations import completes, host_peak_below, prints

ROWS = [
    Row(
        "c13_grpo.py 128",
        "80GiB",
        "TRL's GRPO runs: a user's kernel makes the card forget only what it was given.",
        (completes(), prints("^|\\npeak [\\d.]+ [\\d.]+")),
        reported="TRL#3456",
        frameworks=True,
        seconds=900,
    ),
    Row(
        "c13b_triton_mask.py kernel",
        "8GiB",
        "A boolean mask counts in backward as it did in forward, although a kernel of the user's ran between.",
        (completes(), prints("forward torch.Size\\(\\[200, 8\\]\\)", "backward torch.Size\\(\\[4, 100, 8\\]\\)")),
    ),
    Row(
        "c13b_triton_mask.py none",
        "8GiB",
        "A boolean mask counts in backward as it did in forward.",
        (completes(), prints("forward torch.Size\\(\\[200, 8\\]\\)", "backward torch.Size\\(\\[4, 100, 8\\]\\)")),
    ),
    # 4 GiB here, so that a fault does not take down the machine; the script's own are 28.
    Row(
        "big_zeros.py",
        "1024GiB",
        "Zeros on the card take nothing of the host.",
        (completes(), host_peak_below("host peak MiB (\\d+)", 2048)),
        environment={"N": str(4 << 30)},
    ),
    Row(
        "starve.py",
        "24GiB",
        "Another library asks the driver for 4 GiB while 22 GiB lie in the allocator's cache, which gives way to it.",
        (completes(), prints("cuMemAlloc\\(4 GiB\\) -> 0")),
    ),
    Row(
        "starve.py",
        "24GiB",
        "The same of torch's own allocator, of which the driver's answer to others is no part: the program ends well.",
        (completes(), prints("cuMemAlloc\\(4 GiB\\) -> 2")),
        allocator=NATIVE,
    ),
    # Public: 5,014 MiB reserved after one forward.
    Row(
        "c31_pool_indices.py",
        "24GiB",
        "The convolution in fp32 reserves what the public report says: 5,014 MiB.",
        (completes(), prints("0 before \\d+ \\d+  after 5014 ")),
        reported="pytorch#69526",
        allocator=NATIVE,
    ),
    Row(
        "c31_notf32.py",
        "24GiB",
        "With TF32 off the convolution reserves what the public report says: 5,014 MiB.",
        (completes(), prints("0 before \\d+ \\d+  after 5014 ")),
        reported="pytorch#69526",
        allocator=NATIVE,
    ),
    Row(
        "c07_notf32.py",
        "8GiB",
        "The figures of the public report.",
        (completes(),),
        reported="pytorch#34330",
        allocator=NATIVE,
    ),
    Row(
        "c07_old_output_alive.py",
        "8GiB",
        "The figures of the public report.",
        (completes(),),
        reported="pytorch#34330",
        allocator=NATIVE,
    ),
    Row(
        "zygote.py",
        "8GiB",
        "Two forks made after the imports each run on the card.",
        (completes(), prints("child 128", "child 256")),
    ),
    Row("moe.py", "24GiB", "A small Mixtral trains.", (completes(), prints("^1 \\d+ \\d+|\\n1 \\d+ \\d+"))),
    Row(
        "ranks512.py",
        "80GiB",
        "One rank of 512 of a 70 B model takes two steps.",
        (completes(), prints("step 1 ")),
        environment={"CKPT": "1"},
        seconds=600,
    ),
]
