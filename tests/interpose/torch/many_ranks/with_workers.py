# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline's groups in a program that starts another one, and loads data by workers that call modules."""

import os
import subprocess
import sys

import torch
import torch.distributed as dist
from job_end import end
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset[Tensor]):
    """Samples that a module changes, as torchvision's transforms do."""

    def __init__(self) -> None:
        self.change = nn.Dropout()

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Tensor:
        return self.change(torch.ones(64))


def main() -> None:
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    encoder = nn.Linear(64, 64).requires_grad_(False)
    for _ in range(2):  # before the groups are made
        encoder(torch.ones(64))
    dist.init_process_group("nccl")
    init_device_mesh("cuda", (4, dist.get_world_size() // 4), mesh_dim_names=("pp", "data"))
    net = nn.Linear(64, 64).cuda()
    for batch in DataLoader(Noise(), batch_size=4, num_workers=1, multiprocessing_context=sys.argv[1]):
        net(batch.cuda()).sum().backward()
    end()


if __name__ == "__main__":
    main()
