# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""TRL's SFTTrainer on random tokens, LoRA by peft: nothing is fetched."""

from datasets import Dataset
from figures import LENGTH, VOCABULARY, on_card, small_gpt2, states, tell
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

words = Tokenizer(
    models.WordLevel(
        {f"w{i}": i for i in range(VOCABULARY - 2)} | {"<unk>": VOCABULARY - 2, "<eos>": VOCABULARY - 1}, "<unk>"
    )
)
words.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<eos>", pad_token="<eos>", unk_token="<unk>")
text = " ".join(f"w{i}" for i in range(LENGTH - 2))
trainer = SFTTrainer(
    small_gpt2(),
    SFTConfig(
        output_dir="out",
        max_steps=3,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        max_length=LENGTH,
        report_to=[],
        save_strategy="no",
        gradient_checkpointing=True,
        bf16=False,
    ),
    train_dataset=Dataset.from_dict({"text": [text] * 16}),
    processing_class=tokenizer,
    peft_config=LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=["c_attn"]),
)
trainer.train()
trainable = on_card(p for p in trainer.model.parameters() if p.requires_grad)
tell(parameters=on_card(trainer.model.parameters()), trainable=trainable, states=states(trainer.optimizer))
