# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what torchtitan of 2024 needs beside its configuration: make_data.py FOLDER.

The vocabulary has as many tokens as Llama 3's (128,000 and 256 special ones), because the sizes of the embedding and
the logits follow from it. The tokens and the texts are made up: sizes do not depend on them.
"""

import base64
import itertools
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

TOKENS = 128_000
TEXTS, WORDS_OF_TEXT = 256, 3000


def tokens() -> Iterator[bytes]:
    """Yields all sequences of one byte, then those of two and of three."""
    for length in (1, 2, 3):
        for values in itertools.product(range(256), repeat=length):
            yield bytes(values)


def main() -> None:
    folder = Path(sys.argv[1])
    (folder / "texts").mkdir(parents=True, exist_ok=True)
    with (folder / "tokenizer.model").open("wb") as file:
        for rank, token in enumerate(itertools.islice(tokens(), TOKENS)):
            file.write(base64.b64encode(token) + b" %d\n" % rank)
    random.seed(0)
    words = [f"w{number}" for number in range(2000)]
    with (folder / "texts" / "texts.jsonl").open("w") as file:
        for _ in range(TEXTS):
            file.write(json.dumps({"text": " ".join(random.choices(words, k=WORDS_OF_TEXT))}) + "\n")


if __name__ == "__main__":
    main()
