# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The ranks among which a program splits its model: four neighbours, however many ranks the job has."""

import os

from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

PARTS = 4


def parts(name: str) -> DeviceMesh:
    """Returns this rank's group of four, of that name. Each group has the whole model."""
    groups = int(os.environ["WORLD_SIZE"]) // PARTS
    return init_device_mesh("cuda", (groups, PARTS), mesh_dim_names=("replicas", name))[name]
