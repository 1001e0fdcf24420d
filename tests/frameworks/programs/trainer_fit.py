# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Trainer with `FitCallback`: prints the callback's estimate and the memory that the training then took.

Arguments: the card to test ("" for this process's), further TrainingArguments as JSON, "stop" to be stopped.
"""

import json
import sys
import tempfile

from figures import Sentences, small_gpt2
from fit_figures import tell_beside, watch_estimates
from memtrace.callbacks import FitCallback
from transformers import Trainer, TrainingArguments

found = watch_estimates()
seen = []


class Order(Sentences):
    """Notes which samples the training reads."""

    def __getitem__(self, index):
        seen.append(index)
        return super().__getitem__(index)


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        max_steps=3,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=1,
        **json.loads(sys.argv[2]),
    )
    callbacks = [FitCallback(sys.argv[1] or None, stop="stop" in sys.argv)] if sys.argv[1] != "without" else []
    trainer = Trainer(model=small_gpt2(), args=arguments, train_dataset=Order(), callbacks=callbacks)
    trainer.train()

tell_beside(found, order=seen[-12:])
