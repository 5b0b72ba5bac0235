# Stable Diffusion's U-Net (1.x, 2.x, XL), its ControlNet, and its VAE.
# Sources: Rombach et al., arXiv:2112.10752; Podell et al., arXiv:2307.01952; Zhang et al., arXiv:2302.05543; sizes
# from the published config.json of each model.
import math

import torch
import torch.nn.functional as F
from torch import nn

from attention import Attention


class Norm(nn.GroupNorm):
    """CompVis computes it in float32, whatever comes in."""

    def __init__(self, groups, channels, eps, form):
        super().__init__(groups, channels, eps)
        self.cast = form == "einsum"

    def forward(self, x):
        return super().forward(x.float()).type(x.dtype) if self.cast else super().forward(x)


def sinusoids(t, width):
    half = width // 2
    frequencies = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
    angles = t[:, None].float() * frequencies[None]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


class TimeMlp(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.linear_1 = nn.Linear(inputs, width)
        self.linear_2 = nn.Linear(width, width)

    def forward(self, x):
        return self.linear_2(F.silu(self.linear_1(x)))


class ResBlock(nn.Module):
    """`by_one`: divided by 1.0 at the end, as diffusers does."""

    def __init__(self, inputs, channels, time, groups, form, eps=1e-5):
        super().__init__()
        self.by_one = form in ("sdpa", "baddbmm")
        self.norm1 = Norm(groups, inputs, eps, form)
        self.conv1 = nn.Conv2d(inputs, channels, 3, padding=1)
        self.time_emb_proj = nn.Linear(time, channels) if time else None
        self.norm2 = Norm(groups, channels, eps, form)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inputs, channels, 1) if inputs != channels else nn.Identity()

    def forward(self, x, time=None):
        y = self.conv1(F.silu(self.norm1(x)))
        if self.time_emb_proj is not None:
            y = y + self.time_emb_proj(F.silu(time))[:, :, None, None]
        y = self.conv2(F.silu(self.norm2(y)))
        x = self.conv_shortcut(x)
        return (x + y) / 1.0 if self.by_one else x + y


class GeGlu(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.proj = nn.Linear(width, 2 * inner)

    def forward(self, x):
        x, gate = self.proj(x).chunk(2, dim=-1)
        return x * F.gelu(gate)


class Block(nn.Module):
    def __init__(self, width, heads, context, form):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.attn1 = Attention(width, heads, None, form)
        self.attn2 = Attention(width, heads, context, form)
        self.ff = nn.Sequential(GeGlu(width, 4 * width), nn.Dropout(0.0), nn.Linear(4 * width, width))

    def forward(self, x, context):
        x = self.attn1(self.norm1(x)) + x
        x = self.attn2(self.norm2(x), context) + x
        return self.ff(self.norm3(x)) + x


class Transformer(nn.Module):
    """Pixels as tokens. SD 2 and XL project by linear layers, SD 1 by 1x1 convolutions."""

    def __init__(self, width, heads, depth, config):
        super().__init__()
        self.form, self.linear = config["form"], config["linear_projection"]
        one = nn.Linear if self.linear else lambda a, b: nn.Conv2d(a, b, 1)
        self.norm = nn.GroupNorm(config["groups"], width, 1e-6)
        self.proj_in = one(width, width)
        self.blocks = nn.ModuleList(Block(width, heads, config["context"], self.form) for _ in range(depth))
        self.proj_out = one(width, width)

    def forward(self, x, context):
        batch, width, height, across = x.shape
        y = self.norm(x)
        y = y if self.linear else self.proj_in(y)
        if self.form == "divided":
            y = y.view(batch, width, height * across).transpose(-1, -2)
        else:
            y = y.permute(0, 2, 3, 1).reshape(batch, height * across, width)
        y = self.proj_in(y) if self.linear else y
        for block in self.blocks:
            y = block(y, context)
        y = self.proj_out(y) if self.linear else y
        if self.form == "divided":
            y = y.transpose(-1, -2).view(batch, width, height, across)
        else:
            y = y.reshape(batch, height, across, width).permute(0, 3, 1, 2).contiguous()
        return (y if self.linear else self.proj_out(y)) + x


class Stage(nn.Module):
    """A residual block and the transformer after it, if the level has any."""

    def __init__(self, inputs, level, config):
        super().__init__()
        channels, depth, heads = level
        self.res = ResBlock(inputs, channels, 4 * config["levels"][0][0], config["groups"], config["form"])
        self.transformer = Transformer(channels, heads, depth, config) if depth else None

    def forward(self, x, time, context):
        x = self.res(x, time)
        return x if self.transformer is None else self.transformer(x, context)


class Upsample(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


sd15 = dict(levels=[(320, 1, 8), (640, 1, 8), (1280, 1, 8), (1280, 0, 8)], blocks=2, middle=1, context=768,
            groups=32, linear_projection=False, pooled=0, form="sdpa")
sdxl = dict(levels=[(320, 0, 5), (640, 2, 10), (1280, 10, 20)], blocks=2, middle=10, context=2048, groups=32,
            linear_projection=True, pooled=1280, form="sdpa")
tiny_unet = dict(levels=[(8, 1, 2), (16, 0, 2)], blocks=1, middle=1, context=8, groups=4, linear_projection=False,
                 pooled=0, form="sdpa")
tiny_sdxl = dict(tiny_unet, levels=[(8, 0, 2), (16, 2, 4)], middle=2, linear_projection=True, pooled=12)

added_frequencies = 256  # SDXL: addition_time_embed_dim


class Encoder(nn.Module):
    """The U-Net's half that a ControlNet copies: time, conv_in, the levels down, the middle."""

    def __init__(self, config):
        super().__init__()
        levels, blocks = config["levels"], config["blocks"]
        self.width, self.pooled = levels[0][0], config["pooled"]
        self.time_embedding = TimeMlp(self.width, 4 * self.width)
        if self.pooled:
            self.add_embedding = TimeMlp(self.pooled + 6 * added_frequencies, 4 * self.width)
        self.conv_in = nn.Conv2d(4, self.width, 3, padding=1)
        self.down = nn.ModuleList()
        self.skips = [self.width]
        channels = self.width
        for i, level in enumerate(levels):
            for _ in range(blocks):
                self.down.append(Stage(channels, level, config))
                channels = level[0]
                self.skips.append(channels)
            if i + 1 < len(levels):
                self.down.append(nn.Conv2d(channels, channels, 3, stride=2, padding=1))
                self.skips.append(channels)
        last = levels[-1]
        self.middle = nn.ModuleList([Stage(channels, (last[0], config["middle"], last[2]), config),
                                     Stage(channels, (last[0], 0, last[2]), config)])

    def embed(self, timestep, sample, pooled, time_ids):
        time = self.time_embedding(sinusoids(timestep.expand(sample.shape[0]), self.width))
        if self.pooled:
            ids = sinusoids(time_ids.flatten(), added_frequencies).reshape(time_ids.shape[0], -1)
            time = time + self.add_embedding(torch.cat([pooled, ids], dim=-1))
        return time

    def go_down(self, x, time, context):
        skips = [x]
        for module in self.down:
            x = module(x) if isinstance(module, nn.Conv2d) else module(x, time, context)
            skips.append(x)
        for module in self.middle:
            x = module(x, time, context)
        return x, skips


class Unet(Encoder):
    """Inputs: sample, timestep, encoder_hidden_states [, text_embeds, time_ids] [, what a ControlNet adds]."""

    def __init__(self, config):
        super().__init__(config)
        levels, skips = config["levels"], list(self.skips)
        channels = levels[-1][0]
        self.up = nn.ModuleList()
        for i in reversed(range(len(levels))):
            for _ in range(config["blocks"] + 1):
                self.up.append(Stage(channels + skips.pop(), levels[i], config))
                channels = levels[i][0]
            if i > 0:
                self.up.append(Upsample(channels))
        self.conv_norm_out = Norm(config["groups"], channels, 1e-5, config["form"])
        self.conv_out = nn.Conv2d(channels, 4, 3, padding=1)

    def forward(self, sample, timestep, encoder_hidden_states, text_embeds=None, time_ids=None):
        time = self.embed(timestep, sample, text_embeds, time_ids)
        x, skips = self.go_down(self.conv_in(sample), time, encoder_hidden_states)
        for module in self.up:
            if isinstance(module, Upsample):
                x = module(x)
            else:
                x = module(torch.cat([x, skips.pop()], dim=1), time, encoder_hidden_states)
        return self.conv_out(F.silu(self.conv_norm_out(x)))


class ControlNet(Encoder):
    """The U-Net's encoder with a picture added, and a 1x1 convolution on every skip."""

    hint_channels = (16, 32, 96, 256)

    def __init__(self, config):
        super().__init__(config)
        hints = config.get("hint_channels", self.hint_channels)
        layers = [nn.Conv2d(3, hints[0], 3, padding=1), nn.SiLU()]
        for a, b in zip(hints, hints[1:]):
            layers += [nn.Conv2d(a, a, 3, padding=1), nn.SiLU(), nn.Conv2d(a, b, 3, stride=2, padding=1), nn.SiLU()]
        self.hint = nn.Sequential(*layers, nn.Conv2d(hints[-1], self.width, 3, padding=1))
        self.zero = nn.ModuleList(nn.Conv2d(c, c, 1) for c in self.skips)
        self.zero_middle = nn.Conv2d(config["levels"][-1][0], config["levels"][-1][0], 1)

    def forward(self, sample, timestep, encoder_hidden_states, controlnet_cond):
        time = self.embed(timestep, sample, None, None)
        x, skips = self.go_down(self.conv_in(sample) + self.hint(controlnet_cond), time, encoder_hidden_states)
        return tuple(zero(skip) * 0.5 for zero, skip in zip(self.zero, skips)) + (self.zero_middle(x) * 0.5,)
