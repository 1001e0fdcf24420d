# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""The inputs of a diffusers denoiser: latents, time, text; their sizes come from its config."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtrace._estimate.options import Options
from memtrace._estimate.problem import ProblemError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

_MAIN = ("sample", "hidden_states")
# Config entries with the width of a token embedding; the first one that exists counts.
_WIDTHS = ("text_embed_dim", "text_dim", "joint_attention_dim", "caption_channels", "cross_attention_dim")
# Tokens that the pipelines of these models give, by the beginning of the class's name; otherwise CLIP's number.
_WORDS = {"SD3": 333, "Flux": 512, "PixArt": 120, "Wan": 512, "Sana": 300, "LTX": 128, "HunyuanVideo": 256}
_CLIP_WORDS = 77
_FLUX_TOKENS = 4096  # for 1024 x 1024 pixels


@dataclass(frozen=True)
class Denoiser:
    """The information from which one model's inputs are made."""

    model: Module
    options: Options

    @property
    def name(self) -> str:
        """The name of the class."""
        return type(self.model).__name__

    def get(self, entry: str) -> Any:  # a number, several, a word, a bool: it depends on the class
        """Returns an entry of the config; None if there is none."""
        return self.model.config.get(entry)

    def noise(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Makes an input in the model's own precision, with the shape from --shape or this one."""
        import torch

        return torch.randn(self.options.shapes.get(name, shape), dtype=self.model.dtype, device="cuda")


def make(model: Module, options: Options) -> dict[str, object]:
    """Makes the arguments of `model`. Raises ProblemError if its forward requires an unknown one."""
    parameters = inspect.signature(model.forward).parameters
    _check_names(model, options, tuple(parameters))
    of = Denoiser(model, options)
    main = next((name for name in _MAIN if name in parameters), None)
    if main is None:
        raise ProblemError(
            f"{of.name} takes neither {' nor '.join(_MAIN)}. Of diffusers' models, only denoisers can be estimated."
        )
    latents = of.noise(main, options.shapes.get(main) or _latents(of, main))
    known = {main: latents, **_conditions(of, len(latents)), **_positions(of, latents)}
    inputs = {name: value for name, value in known.items() if name in parameters}
    inputs |= {name: of.noise(name, ()) for name in options.shapes if name not in inputs}
    for parameter in parameters.values():
        is_demanded = parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if is_demanded and parameter.name not in inputs:
            raise ProblemError(f"{of.name} requires the input {parameter.name}. Give --shape {parameter.name}=AxB.")
    return inputs


def _check_names(model: Module, options: Options, names: tuple[str, ...]) -> None:
    for given in options.shapes:
        if given not in names:
            raise ProblemError(
                f"--shape {given}: {type(model).__name__} has no such input. Its inputs are {', '.join(names)}.", 2
            )


def _latents(of: Denoiser, main: str) -> tuple[int, ...]:
    batch, channels, size = of.options.batch, of.get("in_channels"), of.get("sample_size")
    if of.get("sample_frames") is not None:
        frames = (of.get("sample_frames") - 1) // of.get("temporal_compression_ratio") + 1
        return (batch, frames, channels, of.get("sample_height"), of.get("sample_width"))
    if of.name.startswith("Flux"):
        return (batch, _FLUX_TOKENS, channels)
    if channels is None or size is None:
        raise ProblemError(
            f"{of.name}: the config has no sample_size. Give the shape of the latents: --shape {main}=AxBxCxD."
        )
    height, width = (size, size) if isinstance(size, int) else size
    return (batch, channels, height, width)


def _conditions(of: Denoiser, batch: int) -> dict[str, object]:
    import torch

    known: dict[str, object] = {"timestep": torch.ones(batch, dtype=torch.long)}
    width = next((found for name in _WIDTHS if (found := of.get(name)) is not None), None)
    if width is not None:
        words = of.get("max_text_seq_length") or next(
            (count for beginning, count in _WORDS.items() if of.name.startswith(beginning)), _CLIP_WORDS
        )
        width = width if isinstance(width, int) else width[0]
        known["encoder_hidden_states"] = of.noise("encoder_hidden_states", (batch, words, width))
    if of.get("pooled_projection_dim"):
        known["pooled_projections"] = of.noise("pooled_projections", (batch, of.get("pooled_projection_dim")))
    if of.get("guidance_embeds"):
        known["guidance"] = torch.ones(batch)
    if of.get("num_class_embeds") or of.name.startswith("DiT"):
        known["class_labels"] = torch.zeros(batch, dtype=torch.long)
    return known | _added(of, batch)


def _added(of: Denoiser, batch: int) -> dict[str, object]:
    """Returns the inputs that SDXL and PixArt get beside the text."""
    if of.get("addition_embed_type") == "text_time":
        pooled = of.get("projection_class_embeddings_input_dim") - 6 * of.get("addition_time_embed_dim")
        sizes = of.noise("time_ids", (batch, 6))
        return {"added_cond_kwargs": {"text_embeds": of.noise("text_embeds", (batch, pooled)), "time_ids": sizes}}
    if of.name.startswith("PixArt"):
        is_told = of.get("use_additional_conditions") or (
            of.get("use_additional_conditions") is None and of.get("sample_size") == 128
        )
        names = {"resolution": (batch, 2), "aspect_ratio": (batch, 1)}
        kwargs = {name: of.noise(name, shape) if is_told else None for name, shape in names.items()}
        return {"added_cond_kwargs": kwargs}
    return {}


def _positions(of: Denoiser, latents: Tensor) -> dict[str, object]:
    """Returns rotary positions, which pipelines make in fp32."""
    import torch

    if of.get("use_rotary_positional_embeddings") and latents.dim() == 5:
        _, frames, _, height, width = latents.shape
        patch, depth = of.get("patch_size"), of.get("patch_size_t") or 1
        count = frames // depth * (height // patch) * (width // patch)
        shape = (count, of.get("attention_head_dim"))
        return {"image_rotary_emb": tuple(torch.randn(shape, device="cuda") for _ in range(2))}
    if of.name.startswith("Flux"):
        words = of.options.shapes.get("encoder_hidden_states", (1, _WORDS["Flux"]))[1]
        counts = {"img_ids": latents.shape[1], "txt_ids": words}
        return {name: torch.zeros(count, 3, device="cuda") for name, count in counts.items()}
    return {}
