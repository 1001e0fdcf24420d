# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""A diffusion model's UNet trained to predict noise, following diffusers' tutorial."""

import torch
from diffusers import DDPMScheduler, UNet2DModel
from figures import on_card, states, tell

model = UNet2DModel(
    sample_size=32,
    in_channels=3,
    out_channels=3,
    layers_per_block=1,
    block_out_channels=(64, 128),
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
).to("cuda")
scheduler = DDPMScheduler(num_train_timesteps=1000)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    images = torch.randn(4, 3, 32, 32, device="cuda")
    noise = torch.randn_like(images)
    steps = torch.randint(0, 1000, (4,), device="cuda")
    predicted = model(scheduler.add_noise(images, noise, steps), steps, return_dict=False)[0]
    loss = torch.nn.functional.mse_loss(predicted, noise)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

tell(parameters=on_card(model.parameters()), states=states(optimizer))
