# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Training in which one of 48 samples is far longer than the others, by the framework that the argument names."""

import sys

import torch
from datasets import Dataset, IterableDataset
from figures import VOCABULARY, small_gpt2
from torch.nn.utils.rnn import pad_sequence

SHORT, LONG, LATE = 16, 256, 40
lengths = [LONG if number == LATE else SHORT for number in range(48)]
rows = {"input_ids": [[1] * length for length in lengths], "labels": [[1] * length for length in lengths]}


def padded(items):
    return {
        name: pad_sequence([torch.as_tensor(item[name]) for item in items], batch_first=True)
        for name in ("input_ids", "labels")
    }


def arguments(**more):
    return {
        "output_dir": "out",
        "per_device_train_batch_size": 4,
        "report_to": [],
        "save_strategy": "no",
        "bf16": False,
        "disable_tqdm": True,
        **more,
    }


def trainer(**more):
    from transformers import Trainer, TrainingArguments

    data = more.pop("data", None) or Dataset.from_dict(rows)
    Trainer(small_gpt2(), TrainingArguments(**arguments(**more)), data_collator=padded, train_dataset=data).train()


def streamed():
    def made():
        for length in lengths:
            yield {"input_ids": [1] * length, "labels": [1] * length}

    trainer(data=IterableDataset.from_generator(made), max_steps=20)


def trl(**more):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    from trl import SFTConfig, SFTTrainer

    words = Tokenizer(
        models.WordLevel({f"w{i}": i for i in range(VOCABULARY - 2)} | {"<unk>": 8190, "<eos>": 8191}, "<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<eos>", pad_token="<eos>", unk_token="<unk>")
    data = Dataset.from_dict({"text": [" ".join(["w1"] * (length - 1)) for length in lengths]})
    config = SFTConfig(**arguments(max_length=LONG, gradient_checkpointing=False, **more))
    SFTTrainer(small_gpt2(), config, train_dataset=data, processing_class=tokenizer).train()


def lightning():
    import lightning as pl

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = small_gpt2()

        def training_step(self, batch, index):
            return self.model(**batch).loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    data = [{name: torch.tensor(row[number]) for name, row in rows.items()} for number in range(48)]
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    loader = torch.utils.data.DataLoader(data, batch_size=4, collate_fn=padded)
    pl.Trainer(accelerator="gpu", devices=1, max_epochs=1, **quiet).fit(Model(), loader)


PROGRAMS = {
    "trainer": trainer,
    "grouped": lambda: trainer(**GROUPED),
    "workers": lambda: trainer(dataloader_num_workers=2, gradient_accumulation_steps=2),
    "streamed": streamed,
    "trl": trl,
    "packed": lambda: trl(packing=True),
    "lightning": lightning,
}
GROUPED = {"train_sampling_strategy": "group_by_length"}
PROGRAMS[sys.argv[1]]()
