# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Megatron Core's GPT with its optimizer, as its QuickStart writes the loop. Usage: megatron_gpt.py TENSOR PIPELINE."""

import os
import sys

import torch
from job_end import end
from megatron.core import parallel_state
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from megatron.core.pipeline_parallel.schedules import get_forward_backward_func
from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
from megatron.core.transformer.module import Float16Module
from megatron.core.transformer.transformer_config import TransformerConfig
from tiny_gpt import LENGTH, VOCABULARY, tokens

MICRO_BATCH, MICRO_BATCHES = 4, 4
tensor, pipeline = int(sys.argv[1]), int(sys.argv[2])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
torch.distributed.init_process_group("nccl")
parallel_state.initialize_model_parallel(tensor, pipeline)
model_parallel_cuda_manual_seed(123)
config = TransformerConfig(
    num_layers=4,
    hidden_size=256,
    num_attention_heads=8,
    use_cpu_initialization=True,
    tensor_model_parallel_size=tensor,
    pipeline_model_parallel_size=pipeline,
    pipeline_dtype=torch.bfloat16,
    bf16=True,
    params_dtype=torch.bfloat16,
    gradient_accumulation_fusion=False,
    finalize_model_grads_func=finalize_model_grads,
)
gpt = GPTModel(
    config=config,
    transformer_layer_spec=get_gpt_layer_local_spec(),
    vocab_size=VOCABULARY + VOCABULARY % 2,  # Megatron's data loader pads the vocabulary
    max_sequence_length=LENGTH,
    pre_process=parallel_state.is_pipeline_first_stage(),
    post_process=parallel_state.is_pipeline_last_stage(),
).cuda()
ddp = DistributedDataParallelConfig(use_distributed_optimizer=True, grad_reduce_in_fp32=True)
model = DistributedDataParallel(config, ddp, Float16Module(config, gpt))
optimizer = get_megatron_optimizer(
    OptimizerConfig(optimizer="adam", lr=1e-4, bf16=True, use_distributed_optimizer=True), [model]
)


def loss_of(losses):
    loss = losses.float().mean()
    mean = loss.detach().clone()
    torch.distributed.all_reduce(mean, group=parallel_state.get_data_parallel_group())
    return loss, {"loss": mean}


def forward_step(batches, model):
    texts = next(batches)
    positions = torch.arange(LENGTH, device="cuda").expand_as(texts)
    return model(texts, positions, None, labels=texts), loss_of


run = get_forward_backward_func()
for _ in range(3):
    model.zero_grad_buffer()
    optimizer.zero_grad()
    run(
        forward_step_func=forward_step,
        data_iterator=(tokens(MICRO_BATCH) for _ in range(MICRO_BATCHES)),
        model=model,
        num_microbatches=MICRO_BATCHES,
        seq_length=LENGTH,
        micro_batch_size=MICRO_BATCH,
        forward_only=False,
    )
    optimizer.step()
end(stage=parallel_state.get_pipeline_model_parallel_rank())
