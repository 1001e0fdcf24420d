# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face Trainer on a causal language model, following transformers' documentation."""

import sys
import tempfile

from figures import Sentences, on_card, small_gpt2, states, tell
from transformers import Trainer, TrainingArguments

with tempfile.TemporaryDirectory() as folder:
    model = small_gpt2()
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        max_steps=3,
        learning_rate=2e-5,
        optim=sys.argv[1] if len(sys.argv) > 1 else "adamw_torch",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=Sentences())
    trainer.train()

tell(parameters=on_card(model.parameters()), states=states(trainer.optimizer.optimizer))
