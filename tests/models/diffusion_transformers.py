# Transformers that denoise: DiT, the two-stream blocks of Stable Diffusion 3, and Flux's.
# Sources: Peebles and Xie, arXiv:2212.09748; Esser et al., arXiv:2403.03206; the published model card and
# configuration of FLUX.1.
import torch
import torch.nn.functional as F
from torch import nn

from attention import scaled_products
from latent_diffusion import TimeMlp, sinusoids

dit_xl2 = dict(width=1152, layers=28, heads=16, latent=32, classes=1001)
tiny_dit = dict(width=16, layers=2, heads=2, latent=8, classes=5)
mmdit = dict(width=1536, layers=4, heads=24, latent=64, context=4096, pooled=2048)
tiny_mmdit = dict(width=16, layers=2, heads=2, latent=8, context=12, pooled=8)
flux = dict(width=3072, double=1, single=2, heads=24, channels=64, context=4096, pooled=768, axes=(16, 56, 56))
tiny_flux = dict(width=16, double=1, single=1, heads=2, channels=8, context=12, pooled=8, axes=(2, 2, 4))


def modulated(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


def plain_norm(width):
    return nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x), approximate="tanh"))


class DitBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = plain_norm(width), plain_norm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = Mlp(width)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def attend(self, x):
        batch, tokens, width = x.shape
        depth = width // self.heads
        qkv = self.qkv(x).reshape(batch, tokens, 3, self.heads, depth)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(-2, -1)) * depth**-0.5
        return self.proj((scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x, condition):
        part = self.modulation(condition).chunk(6, dim=1)
        x = x + part[2].unsqueeze(1) * self.attend(modulated(self.norm1(x), part[0], part[1]))
        return x + part[5].unsqueeze(1) * self.mlp(modulated(self.norm2(x), part[3], part[4]))


class Ending(nn.Module):
    def __init__(self, width, outputs):
        super().__init__()
        self.norm = plain_norm(width)
        self.linear = nn.Linear(width, outputs)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 2 * width))

    def forward(self, x, condition):
        shift, scale = self.modulation(condition).chunk(2, dim=1)
        return self.linear(modulated(self.norm(x), shift, scale))


def unpatchify(x, side, channels):
    x = x.reshape(x.shape[0], side, side, 2, 2, channels)
    return torch.einsum("nhwpqc->nchpwq", x).reshape(x.shape[0], channels, 2 * side, 2 * side)


class Dit(nn.Module):
    frequencies = 256

    def __init__(self, config):
        super().__init__()
        width, self.side = config["width"], config["latent"] // 2
        self.x_embedder = nn.Conv2d(4, width, 2, 2)
        self.pos_embed = nn.Parameter(torch.zeros(1, self.side**2, width))
        self.t_embedder = TimeMlp(self.frequencies, width)
        self.y_embedder = nn.Embedding(config["classes"], width)
        self.blocks = nn.ModuleList(DitBlock(width, config["heads"]) for _ in range(config["layers"]))
        self.final_layer = Ending(width, 2 * 2 * 8)

    def forward(self, x, t, y):
        x = self.x_embedder(x).flatten(2).transpose(1, 2) + self.pos_embed
        condition = self.t_embedder(sinusoids(t, self.frequencies)) + self.y_embedder(y)
        for block in self.blocks:
            x = block(x, condition)
        return unpatchify(self.final_layer(x, condition), self.side, 8)


class RootNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Stream(nn.Module):
    """One side of a two-stream block: its norms, projections and MLP. The last block's text side is not gone on
    with. `root_norms`: on q and k, as Flux has."""

    def __init__(self, width, heads, root_norms, last=False):
        super().__init__()
        self.heads, self.last = heads, last
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, (2 if last else 6) * width))
        self.norm1 = plain_norm(width)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        depth = width // heads
        self.norm_q, self.norm_k = (RootNorm(depth) if root_norms else nn.Identity() for _ in range(2))
        if not last:
            self.proj, self.norm2, self.mlp = nn.Linear(width, width), plain_norm(width), Mlp(width)

    def project(self, x, condition):
        part = self.modulation(condition).chunk(2 if self.last else 6, dim=1)
        y = modulated(self.norm1(x), part[0], part[1])
        q, k, v = (f(y).view(x.shape[0], -1, self.heads, x.shape[2] // self.heads).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        return (self.norm_q(q), self.norm_k(k), v), part

    def finish(self, x, mixed, part):
        x = x + part[2].unsqueeze(1) * self.proj(mixed)
        return x + part[5].unsqueeze(1) * self.mlp(modulated(self.norm2(x), part[3], part[4]))


def rotated(x, rotation):
    """Pairs of neighbours turned by their position's angle."""
    if rotation is None:
        return x
    cos, sin = rotation
    real, imaginary = x.reshape(x.shape[0], x.shape[1], x.shape[2], -1, 2).unbind(-1)
    turned = torch.stack([-imaginary, real], dim=-1).flatten(3)
    return x * cos + turned * sin


def attend(q, k, v, rotation):
    mixed = scaled_products(rotated(q, rotation), rotated(k, rotation), v)
    return mixed.transpose(1, 2).reshape(q.shape[0], -1, q.shape[1] * q.shape[3])


class DoubleBlock(nn.Module):
    """Text and picture apart but for one attention over both."""

    def __init__(self, width, heads, root_norms=False, last=False):
        super().__init__()
        self.text = Stream(width, heads, root_norms, last)
        self.picture = Stream(width, heads, root_norms)

    def forward(self, text, x, condition, rotation=None):
        ours, part = self.picture.project(x, condition)
        theirs, text_part = self.text.project(text, condition)
        mixed = attend(*(torch.cat([a, b], dim=2) for a, b in zip(theirs, ours)), rotation)
        tokens = text.shape[1]
        x = self.picture.finish(x, mixed[:, tokens:], part)
        return (text if self.text.last else self.text.finish(text, mixed[:, :tokens], text_part)), x


class Mmdit(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.side = config["width"], config["latent"] // 2
        layers = config["layers"]
        self.x_embedder = nn.Conv2d(16, width, 2, 2)
        self.pos_embed = nn.Parameter(torch.zeros(1, self.side**2, width))
        self.context_embedder = nn.Linear(config["context"], width)
        self.time, self.pooled = TimeMlp(256, width), TimeMlp(config["pooled"], width)
        self.blocks = nn.ModuleList(DoubleBlock(width, config["heads"], False, i + 1 == layers)
                                    for i in range(layers))
        self.ending = Ending(width, 2 * 2 * 16)

    def forward(self, sample, timestep, encoder_hidden_states, pooled):
        condition = self.time(sinusoids(timestep, 256)) + self.pooled(pooled)
        text = self.context_embedder(encoder_hidden_states)
        x = self.x_embedder(sample).flatten(2).transpose(1, 2) + self.pos_embed
        for block in self.blocks:
            text, x = block(text, x, condition)
        return unpatchify(self.ending(x, condition), self.side, 16)


class SingleBlock(nn.Module):
    """Attention and MLP side by side, out of one norm and into one projection."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 3 * width))
        self.norm = plain_norm(width)
        self.linear1, self.linear2 = nn.Linear(width, 7 * width), nn.Linear(5 * width, width)
        self.norm_q, self.norm_k = RootNorm(width // heads), RootNorm(width // heads)

    def forward(self, x, condition, rotation):
        shift, scale, gate = self.modulation(condition).chunk(3, dim=1)
        qkv, hidden = self.linear1(modulated(self.norm(x), shift, scale)).split((3 * self.width, 4 * self.width), 2)
        qkv = qkv.view(x.shape[0], -1, 3, self.heads, self.width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = attend(self.norm_q(qkv[0]), self.norm_k(qkv[1]), qkv[2], rotation)
        tanh = torch.tanh(0.7978845608028654 * (hidden + 0.044715 * torch.pow(hidden, 3)))
        y = self.linear2(torch.cat([mixed, 0.5 * hidden * (1 + tanh)], dim=2))
        return x + gate.unsqueeze(1) * y


class Flux(nn.Module):
    """`ids`: the place of each token on three axes, text first."""

    def __init__(self, config):
        super().__init__()
        width, heads = config["width"], config["heads"]
        self.axes = config["axes"]
        self.x_embedder = nn.Linear(config["channels"], width)
        self.context_embedder = nn.Linear(config["context"], width)
        self.time, self.pooled = TimeMlp(256, width), TimeMlp(config["pooled"], width)
        self.double_blocks = nn.ModuleList(DoubleBlock(width, heads, True) for _ in range(config["double"]))
        self.single_blocks = nn.ModuleList(SingleBlock(width, heads) for _ in range(config["single"]))
        self.ending = Ending(width, config["channels"])

    def rotation(self, ids):
        angles = []
        for axis, depth in enumerate(self.axes):
            rate = 1.0 / 10000.0 ** (torch.arange(0, depth, 2, dtype=torch.float32, device=ids.device) / depth)
            angles.append(ids[:, axis, None] * rate[None])
        both = torch.cat(angles, dim=1)
        both = torch.stack([both, both], dim=-1).flatten(1)
        return both.cos()[None, None], both.sin()[None, None]

    def forward(self, hidden_states, timestep, encoder_hidden_states, pooled, ids):
        condition = self.time(sinusoids(timestep, 256)) + self.pooled(pooled)
        rotation = self.rotation(ids)
        x, text = self.x_embedder(hidden_states), self.context_embedder(encoder_hidden_states)
        for block in self.double_blocks:
            text, x = block(text, x, condition, rotation)
        x = torch.cat([text, x], dim=1)
        for block in self.single_blocks:
            x = block(x, condition, rotation)
        return self.ending(x[:, text.shape[1] :], condition)
