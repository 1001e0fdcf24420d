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
    data = Dataset.from_dict({"text": [" ".join(["w1"] * (length - 1)) for length in more.pop("lengths", lengths)]})
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


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        yield from items()


def items():
    return [{name: rows[name][number] for name in rows} for number in range(48)]


def stateful(data, passed=0, **more):
    from torchdata.stateful_dataloader import StatefulDataLoader

    model = small_gpt2().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    loader = StatefulDataLoader(data, batch_size=4, collate_fn=padded, **more)
    if passed:
        loader.load_state_dict(loader.state_dict() | {"_num_yielded": passed})
    for batch in loader:
        model(**{name: part.cuda() for name, part in batch.items()}).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


PROGRAMS = {
    "trainer": trainer,
    "grouped": lambda: trainer(**GROUPED),
    "workers": lambda: trainer(dataloader_num_workers=2, gradient_accumulation_steps=2),
    "streamed": streamed,
    "trl": trl,
    "packed": lambda: trl(packing=True, lengths=[LONG if number % 40 == 0 else 30 for number in range(480)]),
    "lightning": lightning,
    "stateful": lambda: stateful(items(), num_workers=2),
    "stateful_stream": lambda: stateful(Stream()),
    "stateful_continued": lambda: stateful(Stream(), passed=11),
}
GROUPED = {"train_sampling_strategy": "group_by_length"}
PROGRAMS[sys.argv[1]]()
