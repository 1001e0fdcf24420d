# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes pictures and videos, and their placeholders in the text of a model that reads both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from memtrace._estimate.call import Call, filled
from memtrace._estimate.problem import ProblemError

if TYPE_CHECKING:
    from torch import Tensor

_NAME = "pixel_values"
_WORD = 11  # not a special token of any model


def make(call: Call) -> dict[str, Tensor]:
    """Makes pixel_values for a vision model, and for one that also reads text if --shape gives them.

    A model that reads both gets image_grid_thw if it accepts that; the picture is as square as its patches allow.
    """
    if _NAME not in call.names:
        return {}
    given = call.options.shapes.get(_NAME)
    reads_pictures = "input_ids" in call.names and "return_loss" not in call.names
    if given is None and reads_pictures:
        return {}
    pixels = filled(call, _NAME, given or _usual_shape(call))
    if not reads_pictures:
        return {_NAME: pixels}
    if "image_grid_thw" in call.names:
        return _patches(call, pixels)
    config = call.config
    tokens = getattr(config, "image_seq_length", None) or getattr(config, "mm_tokens_per_image", None)
    return {_NAME: pixels, **_text_with(call, (tokens or 0) * len(pixels) // call.options.batch)}


def _usual_shape(call: Call) -> tuple[int, ...]:
    vision = getattr(call.config, "vision_config", call.config)
    size = getattr(vision, "image_size", None)
    if size is None:
        raise ProblemError(
            f"{type(call.model).__name__}: the config has no image_size. Give --shape {_NAME}=1x3x224x224."
        )
    height, width = (size, size) if isinstance(size, int) else size
    frames = getattr(vision, "num_frames", None)
    channels = getattr(vision, "num_channels", 3)
    return (call.options.batch, *([frames] if frames else []), channels, height, width)


def _patches(call: Call, pixels: Tensor) -> dict[str, Tensor]:
    import torch

    merged, batch = call.config.vision_config.spatial_merge_size, call.options.batch
    count = len(pixels) // batch
    heights = [h for h in range(merged, math.isqrt(count) + 1, merged) if count % h == 0 and count // h % merged == 0]
    if not heights or len(pixels) % batch:
        pictures = "1 picture" if batch == 1 else f"{batch} pictures"
        raise ProblemError(
            f"--shape {_NAME}: {len(pixels)} patches do not fill {pictures} of whole {merged}x{merged} squares."
        )
    grid = torch.tensor([[1, max(heights), count // max(heights)]] * batch)
    return {_NAME: pixels, "image_grid_thw": grid, **_text_with(call, count // merged**2)}


def _text_with(call: Call, tokens: int) -> dict[str, Tensor]:
    """Returns the text, in which the first `tokens` tokens of each sample stand for its picture."""
    import torch

    place = getattr(call.config, "image_token_id", None)
    if place is None or not 0 < tokens < call.seq:
        raise ProblemError(f"--shape {_NAME}: a picture takes {tokens} of the {call.seq} tokens of text. Raise --seq.")
    ids = torch.full((call.options.batch, call.seq), _WORD)
    ids[:, :tokens] = place
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    kinds = [name for name in ("mm_token_type_ids", "token_type_ids") if name in call.names]
    return inputs | {name: (ids == place).long() for name in kinds}
