# Stable Diffusion's VAE, encoder and decoder (Rombach et al., arXiv:2112.10752).
import torch
import torch.nn.functional as F
from torch import nn

from attention import Attention
from latent_diffusion import Norm, ResBlock, Upsample

sd_vae = dict(channels=[128, 256, 512, 512], blocks=2, groups=32, form="sdpa")
tiny_vae = dict(channels=[8, 16], blocks=1, groups=4, form="sdpa")


class PixelAttention(nn.Module):
    """Of all pixels to all pixels, one head. CompVis projects by 1x1 convolutions, diffusers by linear layers."""

    def __init__(self, width, config):
        super().__init__()
        self.convolutions = config["form"] == "einsum"
        self.norm = Norm(config["groups"], width, 1e-6, config["form"])
        if self.convolutions:
            self.q, self.k, self.v, self.proj_out = (nn.Conv2d(width, width, 1) for _ in range(4))
        else:
            self.attention = Attention(width, 1, None, config["form"], bias=True)

    def forward(self, x):
        batch, width, height, across = x.shape
        y = self.norm(x)
        if not self.convolutions:
            y = self.attention(y.view(batch, width, height * across).transpose(1, 2))
            return x + y.transpose(-1, -2).reshape(batch, width, height, across)
        q, k, v = (f(y).reshape(batch, width, height * across) for f in (self.q, self.k, self.v))
        weights = F.softmax(torch.bmm(q.permute(0, 2, 1), k) * width**-0.5, dim=2)
        mixed = torch.bmm(v, weights.permute(0, 2, 1)).reshape(batch, width, height, across)
        return x + self.proj_out(mixed)


class Downsample(nn.Module):
    """Pads below and to the right only."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, stride=2)

    def forward(self, x):
        return self.conv(F.pad(x, (0, 1, 0, 1), mode="constant", value=0))


def middle(width, config):
    return [ResBlock(width, width, 0, config["groups"], config["form"], 1e-6),
            PixelAttention(width, config),
            ResBlock(width, width, 0, config["groups"], config["form"], 1e-6)]


def ending(width, channels, config):
    return [Norm(config["groups"], width, 1e-6, config["form"]), nn.SiLU(),
            nn.Conv2d(width, channels, 3, padding=1)]


class Layers(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class VaeEncoder(Layers):
    def __init__(self, config):
        channels = config["channels"]
        layers, width = [nn.Conv2d(3, channels[0], 3, padding=1)], channels[0]
        for i, wider in enumerate(channels):
            for _ in range(config["blocks"]):
                layers.append(ResBlock(width, wider, 0, config["groups"], config["form"], 1e-6))
                width = wider
            if i + 1 < len(channels):
                layers.append(Downsample(width))
        layers += middle(width, config) + ending(width, 8, config) + [nn.Conv2d(8, 8, 1)]
        super().__init__(layers)


class VaeDecoder(Layers):
    def __init__(self, config):
        channels = config["channels"]
        width = channels[-1]
        layers = [nn.Conv2d(4, 4, 1), nn.Conv2d(4, width, 3, padding=1)] + middle(width, config)
        for i, narrower in enumerate(reversed(channels)):
            for _ in range(config["blocks"] + 1):
                layers.append(ResBlock(width, narrower, 0, config["groups"], config["form"], 1e-6))
                width = narrower
            if i + 1 < len(channels):
                layers.append(Upsample(width))
        super().__init__(layers + ending(width, 3, config))
