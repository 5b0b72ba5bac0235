# Multi-head attention as four code bases write it: the same products, other graphs.
import math

import torch
import torch.nn.functional as F
from torch import nn


def einsum_products(q, k, v, heads):
    """CompVis: heads join the batch, products by einsum, the scores scaled after."""
    batch, rows, width = q.shape
    depth = width // heads

    def apart(x):
        x = x.reshape(batch, -1, heads, depth).permute(0, 2, 1, 3)
        return x.reshape(batch * heads, -1, depth)

    q, k, v = apart(q), apart(k), apart(v)
    scores = torch.einsum("b i d, b j d -> b i j", q, k) * depth**-0.5
    mixed = torch.einsum("b i j, b j d -> b i d", scores.softmax(dim=-1), v)
    return mixed.reshape(batch, heads, rows, depth).permute(0, 2, 1, 3).reshape(batch, rows, width)


def divided_products(q, k, v, heads):
    """kjsman: heads stay a dimension of their own, the scores divided by the root of the depth."""
    batch, rows, width = q.shape
    depth = width // heads
    q, k, v = (x.view(batch, -1, heads, depth).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-1, -2)
    scores = scores / math.sqrt(depth)
    mixed = F.softmax(scores, dim=-1) @ v
    return mixed.transpose(1, 2).contiguous().view(batch, rows, width)


def scaled_products(q, k, v, mask=None):
    """What PyTorch 2 exports for scaled_dot_product_attention: q and k each by the root of the scale, which is
    computed from the shape. Heads are apart already."""
    depth = torch._shape_as_tensor(q)[-1].to(q.dtype)
    scale = (1.0 / depth.sqrt()).sqrt()
    scores = (q * scale) @ (k.transpose(-2, -1) * scale)
    if mask is not None:
        scores = scores + mask
    return F.softmax(scores, dim=-1) @ v


def sdpa_products(q, k, v, heads):
    """diffusers with PyTorch 2."""
    batch, rows, width = q.shape
    depth = width // heads
    q, k, v = (x.view(batch, -1, heads, depth).transpose(1, 2) for x in (q, k, v))
    return scaled_products(q, k, v).transpose(1, 2).reshape(batch, -1, width)


def baddbmm_products(q, k, v, heads):
    """diffusers before PyTorch 2: an empty tensor times 0, plus the scaled product."""
    batch, rows, width = q.shape
    depth = width // heads

    def apart(x):
        x = x.reshape(batch, x.shape[1], heads, depth).permute(0, 2, 1, 3)
        return x.reshape(batch * heads, -1, depth)

    q, k, v = apart(q), apart(k), apart(v)
    nothing = torch.zeros(q.shape[0], q.shape[1], k.shape[1], dtype=q.dtype, device=q.device)
    scores = torch.baddbmm(nothing, q, k.transpose(-1, -2), beta=0, alpha=depth**-0.5)
    mixed = torch.bmm(scores.softmax(dim=-1).to(q.dtype), v)
    return mixed.reshape(batch, heads, rows, depth).permute(0, 2, 1, 3).reshape(batch, rows, width)


products = {
    "einsum": einsum_products,
    "divided": divided_products,
    "sdpa": sdpa_products,
    "baddbmm": baddbmm_products,
}


class Attention(nn.Module):
    """Attention of x to `context` or to itself. Written as kjsman does, self-attention has one projection for
    q, k and v."""

    def __init__(self, width, heads, context_width=None, form="sdpa", bias=False):
        super().__init__()
        self.heads, self.form = heads, form
        self.joint = form == "divided" and context_width is None
        inner = context_width or width
        if self.joint:
            self.in_proj = nn.Linear(width, 3 * width, bias=bias)
        else:
            self.to_q = nn.Linear(width, width, bias=bias)
            self.to_k = nn.Linear(inner, width, bias=bias)
            self.to_v = nn.Linear(inner, width, bias=bias)
        self.to_out = nn.Linear(width, width)

    def forward(self, x, context=None):
        context = x if context is None else context
        if self.joint:
            q, k, v = self.in_proj(x).chunk(3, dim=-1)
        else:
            q, k, v = self.to_q(x), self.to_k(context), self.to_v(context)
        return self.to_out(products[self.form](q, k, v, self.heads))
