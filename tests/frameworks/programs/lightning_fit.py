# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer.fit, following its documentation."""

import lightning
import torch
from figures import Sentences, small_gpt2, tell


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


module = LanguageModel()
trainer = lightning.Trainer(
    accelerator="gpu",
    devices=1,
    max_steps=3,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(module, torch.utils.data.DataLoader(Sentences(), batch_size=4))
# fit moves the module back to the host when it ends.
tell(parameters=sum(p.nbytes for p in module.parameters()))
