# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the card memory of a torch process outside torch's allocator, after the first use of each library, as JSON.

Usage: context_growth.py >FILE. Run it while nothing else uses the card. Figures in bytes, of the whole card.
"""

import json
import os
import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F


def beside_torch() -> int:
    """Returns the bytes of the card in use that are not reserved by torch's allocator."""
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free - torch.cuda.memory_reserved()


def nothing() -> None:
    torch.cuda.init()


def first_tensor() -> None:
    torch.empty(1 << 20, device="cuda")


def elementwise() -> None:
    torch.ones(1 << 20, device="cuda").add_(1).sum().item()


def matrix_product() -> None:
    a = torch.ones(512, 512, device="cuda", dtype=torch.bfloat16)
    (a @ a).sum().item()


def linear_with_bias() -> None:
    a = torch.ones(512, 512, device="cuda", dtype=torch.bfloat16)
    F.linear(a, a, a[0]).sum().item()


def side_stream() -> None:
    with torch.cuda.stream(torch.cuda.Stream()):
        matrix_product()


def convolution() -> None:
    F.conv2d(torch.ones(2, 64, 64, 64, device="cuda"), torch.ones(64, 64, 3, 3, device="cuda")).sum().item()


def flash_attention() -> None:
    q = torch.ones(1, 8, 512, 64, device="cuda", dtype=torch.bfloat16)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
        F.scaled_dot_product_attention(q, q, q).sum().item()


def cudnn_attention() -> None:
    q = torch.ones(1, 8, 512, 64, device="cuda", dtype=torch.bfloat16)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
        F.scaled_dot_product_attention(q, q, q).sum().item()


def eigenvalues() -> None:
    torch.linalg.eigvalsh(torch.eye(64, device="cuda")).sum().item()


def fourier() -> None:
    torch.fft.fft(torch.ones(1000, device="cuda")).real.sum().item()


def sparse() -> None:
    a = torch.eye(64, device="cuda").to_sparse_csr()
    (a @ torch.ones(64, 64, device="cuda")).sum().item()


def recurrent() -> None:
    torch.nn.LSTM(64, 64).cuda()(torch.ones(8, 4, 64, device="cuda"))[0].sum().item()


def nccl_group() -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511", "RANK": "0", "WORLD_SIZE": "1"}
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", 0))


def nccl_reduce() -> None:
    torch.distributed.all_reduce(torch.ones(1 << 20, device="cuda"))


def nccl_second_group() -> None:
    group = torch.distributed.new_group([0])
    torch.distributed.all_reduce(torch.ones(1 << 20, device="cuda"), group=group)


STEPS: tuple[Callable[[], None], ...] = (
    nothing,
    first_tensor,
    elementwise,
    matrix_product,
    linear_with_bias,
    side_stream,
    convolution,
    flash_attention,
    cudnn_attention,
    eigenvalues,
    fourier,
    sparse,
    recurrent,
    nccl_group,
    nccl_reduce,
    nccl_second_group,
)


def main() -> int:
    found: dict[str, int | str] = {"torch": torch.__version__}
    for step in STEPS:
        try:
            step()
            found[step.__name__] = beside_torch()
        except RuntimeError as error:
            found[step.__name__] = str(error).splitlines()[0]
    found["after_the_first_step_again"] = beside_torch()
    json.dump(found, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
