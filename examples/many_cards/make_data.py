# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what torchtitan needs beside its configuration: make_data.py FOLDER. A tokenizer of 2,000 words, and 60 texts.

The program needs the package `tokenizers`. The sizes of a training do not depend on the words.
"""

import json
import random
import sys
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers

SPECIAL = ("<unk>", "<s>", "</s>")
TEXTS, WORDS_OF_TEXT = 60, 9000


def main() -> None:
    folder = Path(sys.argv[1])
    words = [f"w{number}" for number in range(2000)]
    (folder / "tokenizer").mkdir(parents=True, exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=SPECIAL[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer" / "tokenizer.json"))
    settings = {"bos_token": "<s>", "eos_token": "</s>", "add_bos_token": True, "add_eos_token": True}
    (folder / "tokenizer" / "tokenizer_config.json").write_text(json.dumps(settings))
    random.seed(0)
    with (folder / "data" / "texts.jsonl").open("w") as file:
        for _ in range(TEXTS):
            file.write(json.dumps({"text": " ".join(random.choices(words, k=WORDS_OF_TEXT))}) + "\n")


if __name__ == "__main__":
    main()
