# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""Removes a concept from CogVideoX-5B: a trained transformer, its frozen copy, bf16, AdamW."""

import argparse

import torch
import torch.nn.functional as F
from diffusers import CogVideoXTransformer3DModel
from progress import said, tag
from transformers import T5Config, T5EncoderModel
from weightless import gib, on_card

UPDATES = {"default": {}, "foreach": {"foreach": True}, "fused": {"fused": True}, "loop": {"foreach": False}}
TEXT_TOKENS, TEXT_WIDTH, CHANNELS = 226, 4096, 16


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=4, help="videos a step")
    parser.add_argument("--frames", type=int, default=17, help="latent frames of a video")
    parser.add_argument("--size", type=int, default=32, help="height and width of a latent frame")
    parser.add_argument("--checkpointing", action="store_true", help="compute activations again in backward")
    parser.add_argument("--optimizer", choices=[*UPDATES, "adam8bit"], default="default", help="how AdamW updates")
    parser.add_argument("--text-encoder", action="store_true", help="hold T5-XXL's encoder on the card as well")
    parser.add_argument("--no-cudnn", action="store_true", help="convolutions without cuDNN")
    parser.add_argument("--steps", type=int, default=2)
    return parser.parse_args()


def make_transformer() -> CogVideoXTransformer3DModel:
    """Makes the transformer of CogVideoX-5B, with the sizes in its config.json."""
    return CogVideoXTransformer3DModel(
        num_attention_heads=48,
        attention_head_dim=64,
        num_layers=42,
        in_channels=CHANNELS,
        out_channels=CHANNELS,
        time_embed_dim=512,
        text_embed_dim=TEXT_WIDTH,
        max_text_seq_length=TEXT_TOKENS,
        sample_width=90,
        sample_height=60,
        sample_frames=49,
        patch_size=2,
        temporal_compression_ratio=4,
        use_rotary_positional_embeddings=True,
    )


def make_text_encoder() -> T5EncoderModel:
    """Makes T5-XXL's encoder."""
    config = T5Config(
        vocab_size=32128,
        d_model=TEXT_WIDTH,
        d_kv=64,
        d_ff=10240,
        num_heads=64,
        num_layers=24,
        feed_forward_proj="gated-gelu",
    )
    return T5EncoderModel(config)


def make_optimizer(model: torch.nn.Module, update: str) -> torch.optim.Optimizer:
    if update == "adam8bit":
        from bitsandbytes.optim import AdamW8bit

        return AdamW8bit(model.parameters(), lr=1e-5)
    return torch.optim.AdamW(model.parameters(), lr=1e-5, **UPDATES[update])


def make_batch(args: argparse.Namespace) -> dict[str, object]:
    latents = torch.randn(args.batch, args.frames, CHANNELS, args.size, args.size, dtype=torch.bfloat16)
    prompts = torch.randn(args.batch, TEXT_TOKENS, TEXT_WIDTH, dtype=torch.bfloat16)
    patches = args.frames * (args.size // 2) ** 2
    return {
        "hidden_states": latents.cuda(),
        "encoder_hidden_states": prompts.cuda(),
        "timestep": torch.randint(0, 1000, (args.batch,)).cuda(),
        "image_rotary_emb": (torch.randn(patches, 64).cuda(), torch.randn(patches, 64).cuda()),
        "return_dict": False,
    }


def main() -> None:
    args = options()
    torch.backends.cudnn.enabled = not args.no_cudnn
    model = on_card(make_transformer).train()
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {gib(model.parameters()):.4f} GiB")
    said("trained")
    with tag("original_model"):
        original = on_card(make_transformer).requires_grad_(False).eval()
    said("original")
    if args.text_encoder:
        with tag("text_encoder"):
            held = on_card(make_text_encoder)  # noqa: F841
        said("text encoder")
    if args.checkpointing:
        model.enable_gradient_checkpointing()
    optimizer = make_optimizer(model, args.optimizer)
    batch = make_batch(args)
    for step in range(args.steps):
        with torch.no_grad():
            wanted = original(**batch)[0]
        made = model(**batch)[0]
        loss = F.mse_loss(made.float(), wanted.float())
        said(f"step {step} forward")
        loss.backward()
        said(f"step {step} backward")
        optimizer.step()
        said(f"step {step} optimizer")
        model.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
