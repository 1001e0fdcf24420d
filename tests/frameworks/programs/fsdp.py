# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Sharded training of two ranks as torch's tutorials have it; prints each rank's figures. Usage: fsdp.py sharded|flat.

sharded: fully_shard of each block (FSDP2); flat: FullyShardedDataParallel, one flat parameter a block.
"""

import os
import sys

import torch
import torch.distributed as dist
from figures import Sentences, on_card, small_gpt2, tell

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")


def local(tensors):
    """Returns the parts of the tensors on this rank."""
    return [tensor.to_local() if hasattr(tensor, "to_local") else tensor for tensor in tensors]


model = small_gpt2()
if sys.argv[1] == "sharded":
    from torch.distributed.fsdp import fully_shard

    for block in model.transformer.h:
        fully_shard(block)
    model = fully_shard(model)
else:
    import functools

    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
    from transformers.models.gpt2.modeling_gpt2 import GPT2Block

    policy = functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={GPT2Block})
    model = FullyShardedDataParallel(model, auto_wrap_policy=policy, device_id=rank)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
sampler = torch.utils.data.distributed.DistributedSampler(Sentences())
for batch in torch.utils.data.DataLoader(Sentences(), batch_size=4, sampler=sampler):
    optimizer.zero_grad()
    model(**{name: tensor.to(rank) for name, tensor in batch.items()}).loss.backward()
    optimizer.step()

shards = local(model.parameters())
kept = [local([value])[0] for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
gradients = local(parameter.grad for parameter in model.parameters())
tell(rank=rank, parameters=on_card(shards), gradients=on_card(gradients), states=on_card(kept))
dist.destroy_process_group()
