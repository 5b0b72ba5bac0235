# Text models with RMSNorm: T5's encoder, and a decoder like Llama's.
# Sources: Raffel et al., arXiv:1910.10683 (v1.1: gated GELU); Touvron et al., arXiv:2307.09288; sizes of
# google/t5-v1_1-small and of TinyLlama-1.1B (4 of its 22 layers).
import math

import torch
import torch.nn.functional as F
from torch import nn

t5_small = dict(vocabulary=32128, width=512, layers=8, heads=6, depth=64, inner=1024)
llama_4 = dict(vocabulary=32000, width=2048, layers=4, heads=32, kv_heads=4, inner=5632)
tiny_t5 = dict(vocabulary=64, width=16, layers=2, heads=2, depth=8, inner=32)
tiny_llama = dict(vocabulary=64, width=16, layers=2, heads=4, kv_heads=2, inner=40)


class RmsNorm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


class T5Layer(nn.Module):
    """No scale on the scores; a bias by distance is added."""

    def __init__(self, config):
        super().__init__()
        width, inner = config["width"], config["heads"] * config["depth"]
        self.heads, self.depth = config["heads"], config["depth"]
        self.norm1, self.norm2 = RmsNorm(width, 1e-6), RmsNorm(width, 1e-6)
        self.q, self.k, self.v = (nn.Linear(width, inner, bias=False) for _ in range(3))
        self.o = nn.Linear(inner, width, bias=False)
        self.wi_0, self.wi_1 = (nn.Linear(width, config["inner"], bias=False) for _ in range(2))
        self.wo = nn.Linear(config["inner"], width, bias=False)

    def gelu(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))

    def forward(self, x, bias):
        batch, y = x.shape[0], self.norm1(x)
        q, k, v = (f(y).view(batch, -1, self.heads, self.depth).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = torch.matmul(q, k.transpose(3, 2)) + bias
        y = torch.matmul(F.softmax(scores, dim=-1), v).transpose(1, 2).contiguous()
        x = x + self.o(y.view(batch, -1, self.heads * self.depth))
        y = self.norm2(x)
        return x + self.wo(self.gelu(self.wi_0(y)) * self.wi_1(y))


class T5Encoder(nn.Module):
    buckets, farthest = 32, 128

    def __init__(self, config):
        super().__init__()
        self.shared = nn.Embedding(config["vocabulary"], config["width"])
        self.relative_attention_bias = nn.Embedding(self.buckets, config["heads"])
        self.layers = nn.ModuleList(T5Layer(config) for _ in range(config["layers"]))
        self.final_layer_norm = RmsNorm(config["width"], 1e-6)

    def bucket(self, distance):
        """Both directions, half of the buckets each: near distances apart, far ones by their logarithm."""
        half = self.buckets // 2
        later = (distance > 0).to(torch.long) * half
        distance = torch.abs(distance)
        exact = half // 2
        far = torch.log(distance.float() / exact) / math.log(self.farthest / exact) * (half - exact)
        far = torch.min(exact + far.to(torch.long), torch.full_like(distance, half - 1))
        return later + torch.where(distance < exact, distance, far)

    def forward(self, input_ids):
        x = self.shared(input_ids)
        places = torch.arange(input_ids.shape[1], dtype=torch.long, device=x.device)
        distance = places[None, :] - places[:, None]
        bias = self.relative_attention_bias(self.bucket(distance)).permute(2, 0, 1)[None]
        for layer in self.layers:
            x = layer(x, bias)
        return self.final_layer_norm(x)


def turned(x):
    half = x.shape[-1] // 2
    return torch.cat([-x[..., half:], x[..., :half]], dim=-1)


class LlamaLayer(nn.Module):
    """Rotary positions, fewer heads for keys and values than for queries, a SiLU gate."""

    def __init__(self, config):
        super().__init__()
        width = config["width"]
        self.heads, self.kv_heads = config["heads"], config["kv_heads"]
        self.depth = width // self.heads
        kv_width = self.depth * self.kv_heads
        self.input_layernorm, self.post_attention_layernorm = RmsNorm(width, 1e-5), RmsNorm(width, 1e-5)
        self.q_proj, self.o_proj = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k_proj, self.v_proj = (nn.Linear(width, kv_width, bias=False) for _ in range(2))
        self.gate_proj, self.up_proj = (nn.Linear(width, config["inner"], bias=False) for _ in range(2))
        self.down_proj = nn.Linear(config["inner"], width, bias=False)

    def repeated(self, x):
        batch, heads, tokens, depth = x.shape
        times = self.heads // self.kv_heads
        x = x[:, :, None].expand(batch, heads, times, tokens, depth)
        return x.reshape(batch, heads * times, tokens, depth)

    def attend(self, x, cos, sin, mask):
        batch, tokens, width = x.shape
        q = self.q_proj(x).view(batch, tokens, self.heads, self.depth).transpose(1, 2)
        k = self.k_proj(x).view(batch, tokens, self.kv_heads, self.depth).transpose(1, 2)
        v = self.v_proj(x).view(batch, tokens, self.kv_heads, self.depth).transpose(1, 2)
        q = q * cos + turned(q) * sin
        k = k * cos + turned(k) * sin
        k, v = self.repeated(k), self.repeated(v)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.depth) + mask
        mixed = torch.matmul(F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype), v)
        return self.o_proj(mixed.transpose(1, 2).contiguous().reshape(batch, tokens, width))

    def forward(self, x, cos, sin, mask):
        x = x + self.attend(self.input_layernorm(x), cos, sin, mask)
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama(nn.Module):
    """Inputs: ids and their positions."""

    def __init__(self, config):
        super().__init__()
        depth = config["width"] // config["heads"]
        self.embed_tokens = nn.Embedding(config["vocabulary"], config["width"])
        self.layers = nn.ModuleList(LlamaLayer(config) for _ in range(config["layers"]))
        self.norm = RmsNorm(config["width"], 1e-5)
        self.lm_head = nn.Linear(config["width"], config["vocabulary"], bias=False)
        self.register_buffer("inv_freq", 1.0 / 10000.0 ** (torch.arange(0, depth, 2).float() / depth))

    def forward(self, input_ids, position_ids):
        x = self.embed_tokens(input_ids)
        angles = position_ids[:, :, None].float() * self.inv_freq[None, None, :]
        angles = torch.cat([angles, angles], dim=-1)[:, None]
        cos, sin = angles.cos(), angles.sin()
        later = position_ids[:, None, None, :] > position_ids[:, None, :, None]
        mask = later.to(x.dtype) * -1e4
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return self.lm_head(self.norm(x))
