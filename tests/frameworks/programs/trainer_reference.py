# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A Trainer whose loss uses a second model, as in distillation and preference training."""

import tempfile

import torch
from figures import Sentences, on_card, small_gpt2, tell
from transformers import Trainer, TrainingArguments

reference = small_gpt2().to("cuda:0")  # with gradients on, as many scripts leave them


class Distillation(Trainer):
    """Kullback-Leibler divergence from the reference beside the model's own loss."""

    def compute_loss(self, model, inputs, return_outputs=False, **_):
        out = model(**inputs)
        with torch.no_grad():
            wanted = reference(**inputs).logits
        loss = out.loss + torch.nn.functional.kl_div(
            out.logits.log_softmax(-1), wanted.softmax(-1), reduction="batchmean"
        )
        return (loss, out) if return_outputs else loss


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        max_steps=3,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    Distillation(model=small_gpt2(), args=arguments, train_dataset=Sentences()).train()

held = [torch.cuda.memory_allocated(card) for card in range(torch.cuda.device_count())]
tell(reference=on_card(reference.parameters()), held=str(held))
