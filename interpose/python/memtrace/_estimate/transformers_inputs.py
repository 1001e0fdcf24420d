# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a transformers model's inputs from the arguments of its forward and the sizes in its config."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtrace._estimate import image_inputs
from memtrace._estimate.call import Call, filled
from memtrace._estimate.labels import labels
from memtrace._estimate.options import Options
from memtrace._estimate.problem import ProblemError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

_SAMPLES_OF_SOUND = 160_000  # 10 s at 16 kHz
# The first token ids are skipped, because they may be special.
_FIRST_WORD = 10


def make(model: PreTrainedModel, options: Options) -> dict[str, object]:
    """Makes the arguments of `model`, on the host or, if they hold no values, on the card.

    Raises ProblemError if forward requires an unknown one.
    """
    import torch

    parameters = inspect.signature(model.forward).parameters
    call = Call(model, options, tuple(parameters), model.dtype)
    inputs = {**_text(call), **image_inputs.make(call), **_audio_inputs(call)}
    if call.config.is_encoder_decoder and "decoder_input_ids" in call.names:
        inputs["decoder_input_ids"] = torch.ones(options.batch, call.seq, dtype=torch.long)
    inputs |= {name: filled(call, name, shape) for name, shape in options.shapes.items() if name not in inputs}
    _check(call, inputs)
    if options.is_trained:
        inputs |= labels(call, inputs)
    return inputs


def _text(call: Call) -> dict[str, Tensor]:
    import torch

    if "input_ids" not in call.names:
        return {}
    shape = call.options.shapes.get("input_ids", (call.options.batch, call.seq))
    if type(call.model).__name__.endswith("ForMultipleChoice") and len(shape) == 2:
        shape = (shape[0], 2, shape[1])
    _check_positions(call, shape[-1])
    words = int(getattr(call.text, "vocab_size", _FIRST_WORD + 1))
    ids = torch.randint(min(_FIRST_WORD, words - 1), words, shape)
    end = getattr(call.text, "eos_token_id", None)
    if call.config.is_encoder_decoder and isinstance(end, int):
        ids[..., -1] = end  # the token that a classifier of such a model reads
    inputs = {"input_ids": ids}
    if "attention_mask" in call.names:
        inputs["attention_mask"] = torch.ones_like(ids)
    return inputs


def _check_positions(call: Call, length: int) -> None:
    for path, positions in call.position_tables().items():
        if length > positions:
            raise ProblemError(f"--seq: {length} tokens are more than the {positions} positions of {path}.")


def _audio_inputs(call: Call) -> dict[str, Tensor]:
    config, batch = call.config, call.options.batch
    if "input_features" in call.names and hasattr(config, "num_mel_bins"):
        shape = (batch, config.num_mel_bins, 2 * getattr(config, "max_source_positions", 1500))
        return {"input_features": filled(call, "input_features", call.options.shapes.get("input_features", shape))}
    if "input_values" in call.names:
        has_pictures_of_sound = hasattr(config, "num_mel_bins") and hasattr(config, "max_length")
        usual = (config.max_length, config.num_mel_bins) if has_pictures_of_sound else (_SAMPLES_OF_SOUND,)
        shape = call.options.shapes.get("input_values", (batch, *usual))
        return {"input_values": filled(call, "input_values", shape)}
    return {}


def _check(call: Call, inputs: Mapping[str, object]) -> None:
    name = type(call.model).__name__
    for given in call.options.shapes:
        if given not in call.names:
            raise ProblemError(f"--shape {given}: {name} has no such input. Its inputs are {', '.join(call.names)}.", 2)
    for parameter in inspect.signature(call.model.forward).parameters.values():
        is_demanded = parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if is_demanded and parameter.name not in inputs:
            raise ProblemError(f"{name} requires the input {parameter.name}. Give --shape {parameter.name}=AxB.")
    if not inputs:
        raise ProblemError(
            f"{name}: no shape is known for any of its inputs. Give --shape for one of {', '.join(call.names)}."
        )
