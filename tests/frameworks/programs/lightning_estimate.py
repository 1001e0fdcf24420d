# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lightning with `LightningFitCallback`: like trainer_fit.py, with further arguments of its Trainer as JSON."""

import json
import sys

import lightning
import torch
from figures import Sentences, small_gpt2
from fit_figures import tell_beside, watch_estimates
from memtrace.callbacks import LightningFitCallback


class LanguageModel(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = small_gpt2()

    def training_step(self, batch, index):
        loss = self.model(**batch).loss
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


found = watch_estimates()
trainer = lightning.Trainer(
    accelerator="gpu",
    devices=1,
    max_steps=3,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    callbacks=[LightningFitCallback(sys.argv[1] or None)],
    **json.loads(sys.argv[2]),
)
trainer.fit(LanguageModel(), torch.utils.data.DataLoader(Sentences(), batch_size=4))
tell_beside(found)
