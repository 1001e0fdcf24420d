# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Adds special tokens to an InternVL3-8B: loads it onto one card or several, resizes its embeddings."""

import argparse

import torch
from accelerate import dispatch_model, infer_auto_device_map
from accelerate.utils import get_balanced_memory, set_module_tensor_to_device
from progress import said
from transformers import InternVLConfig, InternVLForConditionalGeneration, PreTrainedModel, Qwen2Config
from weightless import described, gib

TEXT = Qwen2Config(
    vocab_size=151674,
    hidden_size=3584,
    intermediate_size=18944,
    num_hidden_layers=28,
    num_attention_heads=28,
    num_key_value_heads=4,
    tie_word_embeddings=False,
    max_position_embeddings=32768,
)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device-map", choices=("one", "auto"), default="one", help="one card, or spread over all")
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    parser.add_argument("--new-tokens", type=int, default=6)
    parser.add_argument("--no-mean", action="store_true", help="new rows at random, not by the old ones' mean")
    return parser.parse_args()


def describe(dtype: torch.dtype) -> PreTrainedModel:
    config = InternVLConfig(text_config=TEXT.to_dict(), tie_word_embeddings=False)
    return described(lambda: InternVLForConditionalGeneration(config), dtype)


def spread(model: PreTrainedModel, dtype: torch.dtype) -> PreTrainedModel:
    """Spreads the model as device_map="auto" does: every layer whole on one card, the cards filled evenly."""
    limits = {"no_split_module_classes": model._no_split_modules, "dtype": dtype}
    places = infer_auto_device_map(model, max_memory=get_balanced_memory(model, **limits), **limits)
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        card = next(places[part] for part in _longest_first(name) if part in places)
        value = torch.empty(tensor.shape, dtype=tensor.dtype, device=card)
        set_module_tensor_to_device(model, name, card, value=value)
    return dispatch_model(model, places)


def _longest_first(name: str) -> list[str]:
    words = name.split(".")
    return [".".join(words[:length]) for length in range(len(words), -1, -1)]


def main() -> None:
    args = options()
    dtype = getattr(torch, args.dtype)
    model = describe(dtype)
    rows = gib(model.get_input_embeddings().parameters())
    print(f"{gib(model.parameters()):.3f} GiB of parameters, {rows:.3f} GiB of them the embedding")
    model = model.to_empty(device="cuda:0") if args.device_map == "one" else spread(model, dtype)
    said("loaded")
    model.resize_token_embeddings(TEXT.vocab_size + args.new_tokens, mean_resizing=not args.no_mean)
    said("resized")


if __name__ == "__main__":
    main()
