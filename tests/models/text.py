# Text models with LayerNorm: CLIP's text encoder, BERT, GPT-2.
# Sources: Radford et al., arXiv:2103.00020; Devlin et al., arXiv:1810.04805; Radford et al., "Language Models are
# Unsupervised Multitask Learners", 2019.
import math

import torch
import torch.nn.functional as F
from torch import nn

clip_l = dict(vocabulary=49408, width=768, layers=12, heads=12, tokens=77)
bert_base = dict(vocabulary=30522, width=768, layers=12, heads=12, positions=512)
gpt2_small = dict(vocabulary=50257, width=768, layers=12, heads=12, positions=1024, head=False)
tiny_text = dict(vocabulary=64, width=16, layers=2, heads=2, tokens=9, positions=16, head=False)


def apart(x, heads):
    return x.view(x.shape[0], -1, heads, x.shape[-1] // heads).transpose(1, 2)


def together(x):
    x = x.transpose(1, 2).contiguous()
    return x.view(x.shape[0], -1, x.shape[2] * x.shape[3])


class ClipLayer(nn.Module):
    """transformers: q scaled, heads join the batch, a mask added."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x, mask):
        batch, tokens, width = x.shape
        depth = width // self.heads
        joined = (batch * self.heads, -1, depth)
        q = apart(self.q_proj(x) * depth**-0.5, self.heads).reshape(*joined)
        k = apart(self.k_proj(x), self.heads).reshape(*joined)
        v = apart(self.v_proj(x), self.heads).reshape(*joined)
        scores = torch.bmm(q, k.transpose(1, 2)).view(batch, self.heads, tokens, tokens) + mask
        scores = scores.view(batch * self.heads, tokens, tokens)
        mixed = torch.bmm(F.softmax(scores, dim=-1), v).view(batch, self.heads, tokens, depth)
        return self.out_proj(mixed.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x, mask):
        x = x + self.attend(self.layer_norm1(x), mask)
        y = self.fc1(self.layer_norm2(x))
        return x + self.fc2(y * torch.sigmoid(1.702 * y))


class ClipText(nn.Module):
    def __init__(self, config):
        super().__init__()
        tokens, width = config["tokens"], config["width"]
        self.token_embedding = nn.Embedding(config["vocabulary"], width)
        self.position_embedding = nn.Parameter(torch.zeros(tokens, width))
        self.layers = nn.ModuleList(ClipLayer(width, config["heads"]) for _ in range(config["layers"]))
        self.final_layer_norm = nn.LayerNorm(width)
        self.mask = torch.full((tokens, tokens), torch.finfo(torch.float32).min).triu(1)[None, None]

    def forward(self, input_ids):
        x = self.token_embedding(input_ids) + self.position_embedding
        for layer in self.layers:
            x = layer(x, self.mask.to(x.device))
        return self.final_layer_norm(x)


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.dense = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)
        self.intermediate, self.output = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask):
        q, k, v = (apart(f(x), self.heads) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        x = self.norm1(self.dense(together(torch.matmul(F.softmax(scores + mask, dim=-1), v))) + x)
        return self.norm2(self.output(F.gelu(self.intermediate(x))) + x)


class Bert(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["width"]
        self.word_embeddings = nn.Embedding(config["vocabulary"], width)
        self.position_embeddings = nn.Embedding(config["positions"], width)
        self.token_type_embeddings = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.ModuleList(BertLayer(width, config["heads"]) for _ in range(config["layers"]))
        self.pooler = nn.Linear(width, width)
        self.register_buffer("position_ids", torch.arange(config["positions"])[None])

    def forward(self, input_ids, attention_mask, token_type_ids):
        mask = (1.0 - attention_mask[:, None, None, :].to(self.pooler.weight.dtype)) * -10000.0
        places = self.position_ids[:, : input_ids.shape[1]]
        x = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        x = self.norm(x + self.position_embeddings(places))
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


class Conv1d(nn.Module):
    """GPT-2's linear layer: weights [in, out], rows in a matrix."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.outputs = outputs
        self.weight = nn.Parameter(torch.zeros(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        y = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return y.view(x.size()[:-1] + (self.outputs,))


class Gpt2Layer(nn.Module):
    def __init__(self, width, heads, positions):
        super().__init__()
        self.heads, self.width = heads, width
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = Conv1d(width, 3 * width), Conv1d(width, width)
        self.fc, self.proj = Conv1d(width, 4 * width), Conv1d(4 * width, width)
        seen = torch.ones(positions, positions, dtype=torch.uint8).tril().bool()
        self.register_buffer("seen", seen.view(1, 1, positions, positions))

    def attend(self, x):
        q, k, v = (apart(part, self.heads) for part in self.c_attn(x).split(self.width, dim=2))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.width // self.heads)
        tokens = x.shape[1]
        seen = self.seen[:, :, :tokens, :tokens]
        scores = torch.where(seen, scores, torch.tensor(-1e4, dtype=scores.dtype, device=x.device))
        return self.c_proj(together(torch.matmul(F.softmax(scores, dim=-1), v)))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        y = self.fc(self.ln_2(x))
        y = 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * torch.pow(y, 3.0))))
        return x + self.proj(y)


class Gpt2(nn.Module):
    """`head`: logits by the transposed token embedding."""

    def __init__(self, config):
        super().__init__()
        width, positions = config["width"], config["positions"]
        self.head = config["head"]
        self.wte = nn.Embedding(config["vocabulary"], width)
        self.wpe = nn.Embedding(positions, width)
        self.layers = nn.ModuleList(Gpt2Layer(width, config["heads"], positions) for _ in range(config["layers"]))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, input_ids):
        places = torch.arange(0, input_ids.shape[1], dtype=torch.long, device=input_ids.device)[None]
        x = self.wte(input_ids) + self.wpe(places)
        for layer in self.layers:
            x = layer(x)
        x = self.ln_f(x)
        return F.linear(x, self.wte.weight) if self.head else x
