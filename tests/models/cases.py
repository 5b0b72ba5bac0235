# Every graph that export.py makes: which network, how large, with which options of the exporter.
from dataclasses import dataclass, field
from typing import Callable, Optional

import torch

import diffusion_transformers as denoisers
import latent_diffusion as diffusion
import rms_text
import text
import vae
import vision


@dataclass
class Case:
    network: str  # a key of `networks`
    size: str  # "tiny": with weights and PyTorch's results; "full": structure only
    opset: int
    form: str = ""  # how attention is written, where there is a choice
    fold: bool = True
    dynamic: bool = False
    half: bool = False
    keep_norms: bool = False  # BatchNorms stay nodes of their own
    sizes: dict = field(default_factory=dict)  # what the inputs' shapes depend on, if not the usual
    built_in: str = ""  # the built-in model that it is; its image side or tokens are in `sizes`

    @property
    def model(self):
        return self.network + ("_" + self.form if self.form else "")

    @property
    def name(self):
        parts = [self.model, self.size, f"op{self.opset}"]
        parts += ["unfolded"] * (not self.fold) + ["norms"] * self.keep_norms
        return "_".join(parts + ["dynamic"] * self.dynamic + ["fp16"] * self.half)


@dataclass
class Network:
    full: Callable
    tiny: Callable
    inputs: Callable  # (sizes, random numbers) -> {name: tensor}
    outputs: list
    axes: dict  # dynamic ones: {tensor: {axis: name}}
    usual: dict  # sizes: {"full": {...}, "tiny": {...}}
    other: dict = field(default_factory=dict)  # sizes of "tiny" that a dynamic graph is run at after the export


def noise(rng, *shape):
    """On a grid of 1/16, which float16 holds, too, and which packs well."""
    return torch.round(torch.randn(*shape, generator=rng) * 16) / 16


def ids(rng, vocabulary, *shape):
    return torch.randint(0, vocabulary, shape, generator=rng)


def unet_inputs(s, rng):
    return dict(sample=noise(rng, s["batch"], 4, s["height"], s["width"]), timestep=torch.tensor([s.get("time", 7.0)]),
                encoder_hidden_states=noise(rng, s["batch"], s["tokens"], s["context"]))


def sdxl_inputs(s, rng):
    return dict(unet_inputs(s, rng), text_embeds=noise(rng, s["batch"], s["pooled"]),
                time_ids=torch.tensor([[64.0, 48.0, 0.0, 0.0, 64.0, 48.0]] * s["batch"]))


def controlnet_inputs(s, rng):
    times = s["hint"]
    return dict(unet_inputs(s, rng), controlnet_cond=noise(rng, s["batch"], 3, times * s["height"], times * s["width"]))


def picture(channels, name="x"):
    return lambda s, rng: {name: noise(rng, s["batch"], channels, s["height"], s["width"])}


def bert_inputs(s, rng):
    shape = (s["batch"], s["tokens"])
    seen = torch.ones(*shape, dtype=torch.long)
    seen[0, -2:] = 0
    return dict(input_ids=ids(rng, s["vocabulary"], *shape), attention_mask=seen, token_type_ids=ids(rng, 2, *shape))


def dit_inputs(s, rng):
    return dict(x=noise(rng, s["batch"], 4, s["latent"], s["latent"]), t=torch.full((s["batch"],), 7.0),
                y=ids(rng, 5, s["batch"]))


def mmdit_inputs(s, rng):
    return dict(sample=noise(rng, s["batch"], 16, s["latent"], s["latent"]), timestep=torch.full((s["batch"],), 7.0),
                encoder_hidden_states=noise(rng, s["batch"], s["tokens"], s["context"]),
                pooled=noise(rng, s["batch"], s["pooled"]))


def flux_inputs(s, rng):
    places = torch.zeros(s["tokens"] + s["side"] ** 2, 3)
    grid = torch.arange(s["side"] ** 2)
    places[s["tokens"]:, 1], places[s["tokens"]:, 2] = grid // s["side"], grid % s["side"]
    return dict(hidden_states=noise(rng, s["batch"], s["side"] ** 2, s["channels"]),
                timestep=torch.full((s["batch"],), 7.0),
                encoder_hidden_states=noise(rng, s["batch"], s["tokens"], s["context"]),
                pooled=noise(rng, s["batch"], s["pooled"]), ids=places)


def tokens(s, rng):
    return dict(input_ids=ids(rng, s["vocabulary"], s["batch"], s["tokens"]))


def llama_inputs(s, rng):
    places = torch.arange(s["tokens"])[None].expand(s["batch"], -1).clone()
    return dict(tokens(s, rng), position_ids=places)


def of(module, full, tiny):
    """Builders of both sizes; `form` overrides how attention is written."""
    def build(config):
        return lambda form: module(dict(config, form=form) if form else config)
    return dict(full=build(full), tiny=build(tiny))


latent_axes = {0: "batch", 2: "height", 3: "width"}
token_axes = {0: "batch", 1: "tokens"}
unet_axes = dict(sample=latent_axes, encoder_hidden_states=token_axes, out=latent_axes)
text_axes = dict(input_ids=token_axes, out=token_axes)
picture_axes = dict(x={0: "batch"}, out={0: "batch"})
sd_full = dict(batch=1, height=64, width=64, tokens=77, context=768)
sd_tiny = dict(batch=1, height=8, width=8, tokens=5, context=8)
sd_other = dict(batch=2, height=4, width=8, tokens=3, context=8)
image = dict(full=dict(batch=1, height=224, width=224), tiny=dict(batch=1, height=16, width=16))
words = dict(full=dict(batch=1, tokens=128, vocabulary=1000), tiny=dict(batch=1, tokens=9, vocabulary=64))
words_other = dict(batch=2, tokens=6, vocabulary=64)

networks = {
    "unet": Network(**of(diffusion.Unet, diffusion.sd15, diffusion.tiny_unet), inputs=unet_inputs, outputs=["out"],
                    axes=unet_axes, usual=dict(full=sd_full, tiny=sd_tiny), other=sd_other),
    "sdxl": Network(**of(diffusion.Unet, diffusion.sdxl, diffusion.tiny_sdxl), inputs=sdxl_inputs, outputs=["out"],
                    axes=unet_axes | dict(text_embeds={0: "batch"}, time_ids={0: "batch"}),
                    usual=dict(full=dict(sd_full, height=8, width=8, context=2048, pooled=1280),
                               tiny=dict(sd_tiny, pooled=12)), other=dict(sd_other, pooled=12)),
    "controlnet": Network(**of(diffusion.ControlNet, diffusion.sd15, dict(diffusion.tiny_unet, hint_channels=(4, 6))),
                          inputs=controlnet_inputs, outputs=["skip"], axes={},
                          usual=dict(full=dict(sd_full, height=32, width=32, hint=8), tiny=dict(sd_tiny, hint=2))),
    "vae_encoder": Network(**of(vae.VaeEncoder, vae.sd_vae, vae.tiny_vae), inputs=picture(3), outputs=["out"],
                           axes=dict(x=latent_axes, out=latent_axes),
                           usual=dict(full=dict(batch=1, height=256, width=256),
                                      tiny=dict(batch=1, height=8, width=8)), other=dict(batch=2, height=4, width=8)),
    "vae_decoder": Network(**of(vae.VaeDecoder, vae.sd_vae, vae.tiny_vae), inputs=picture(4), outputs=["out"],
                           axes=dict(x=latent_axes, out=latent_axes),
                           usual=dict(full=dict(batch=1, height=32, width=32),
                                      tiny=dict(batch=1, height=4, width=4)), other=dict(batch=2, height=2, width=4)),
    "clip": Network(**of(text.ClipText, text.clip_l, text.tiny_text), inputs=tokens, outputs=["out"],
                    axes=dict(input_ids={0: "batch"}, out={0: "batch"}),
                    usual=dict(full=dict(batch=1, tokens=77, vocabulary=1000), tiny=words["tiny"]),
                    other=dict(words_other, tokens=9)),
    "bert": Network(**of(text.Bert, text.bert_base, text.tiny_text), inputs=bert_inputs, outputs=["out", "pooled"],
                    axes=text_axes | dict(attention_mask=token_axes, token_type_ids=token_axes, pooled={0: "batch"}),
                    usual=words, other=words_other),
    "gpt2": Network(**of(text.Gpt2, text.gpt2_small, text.tiny_text), inputs=tokens, outputs=["out"], axes=text_axes,
                    usual=words, other=words_other),
    "gpt2_head": Network(**of(text.Gpt2, dict(text.gpt2_small, head=True), dict(text.tiny_text, head=True)),
                         inputs=tokens, outputs=["out"], axes=text_axes, usual=words, other=words_other),
    "t5": Network(**of(rms_text.T5Encoder, rms_text.t5_small, rms_text.tiny_t5), inputs=tokens, outputs=["out"],
                  axes=text_axes, usual=words, other=words_other),
    "llama": Network(**of(rms_text.Llama, rms_text.llama_4, rms_text.tiny_llama), inputs=llama_inputs,
                     outputs=["out"], axes=text_axes | dict(position_ids=token_axes), usual=words, other=words_other),
    "dit": Network(**of(denoisers.Dit, denoisers.dit_xl2, denoisers.tiny_dit), inputs=dit_inputs, outputs=["out"],
                   axes=picture_axes | dict(t={0: "batch"}, y={0: "batch"}),
                   usual=dict(full=dict(batch=1, latent=32), tiny=dict(batch=1, latent=8)),
                   other=dict(batch=2, latent=8)),
    "mmdit": Network(**of(denoisers.Mmdit, denoisers.mmdit, denoisers.tiny_mmdit), inputs=mmdit_inputs,
                     outputs=["out"], axes={},
                     usual=dict(full=dict(batch=1, latent=64, tokens=154, context=4096, pooled=2048),
                                tiny=dict(batch=1, latent=8, tokens=5, context=12, pooled=8))),
    "flux": Network(**of(denoisers.Flux, denoisers.flux, denoisers.tiny_flux), inputs=flux_inputs, outputs=["out"],
                    axes={}, usual=dict(full=dict(batch=1, side=16, tokens=64, channels=64, context=4096, pooled=768),
                                        tiny=dict(batch=1, side=3, tokens=4, channels=8, context=12, pooled=8))),
    "resnet50": Network(**of(vision.ResNet, vision.resnet50, vision.tiny_resnet), inputs=picture(3), outputs=["out"],
                        axes=picture_axes, usual=image, other=dict(image["tiny"], batch=2)),
    "mobilenetv2": Network(**of(vision.MobileNetV2, vision.mobilenetv2, vision.tiny_mobilenet), inputs=picture(3),
                           outputs=["out"], axes=picture_axes, usual=image, other=dict(image["tiny"], batch=2)),
    "efficientnet": Network(**of(vision.EfficientNet, vision.efficientnet_b0, vision.tiny_efficientnet),
                            inputs=picture(3), outputs=["out"], axes=picture_axes, usual=image,
                            other=dict(image["tiny"], batch=2)),
    "vit": Network(**of(vision.Vit, vision.vit_b16, vision.tiny_vit), inputs=picture(3), outputs=["out"],
                   axes=picture_axes, usual=dict(full=image["full"], tiny=dict(batch=1, height=12, width=12)),
                   other=dict(batch=2, height=12, width=12)),
    "yolo": Network(**of(vision.Yolo, vision.yolo_n, vision.tiny_yolo), inputs=picture(3), outputs=["out"],
                    axes=dict(x=latent_axes, out={0: "batch", 2: "anchors"}),
                    usual=dict(full=dict(batch=1, height=320, width=320), tiny=image["tiny"]),
                    other=dict(batch=2, height=24, width=16)),
}

small = dict(height=32, width=32)  # a picture of 256 pixels

cases = [
    Case("unet", "full", 14, "einsum", built_in="sd15-unet"),
    Case("unet", "full", 17, "divided", fold=False, sizes=small, built_in="sd15-unet"),
    Case("unet", "full", 9, "sdpa", sizes=small, built_in="sd15-unet"),
    Case("unet", "full", 14, "sdpa", dynamic=True, half=True, sizes=small, built_in="sd15-unet"),
    Case("unet", "full", 17, "baddbmm", dynamic=True, sizes=dict(small, batch=2), built_in="sd15-unet"),
    Case("unet", "tiny", 14, "einsum", dynamic=True),
    Case("unet", "tiny", 17, "einsum", fold=False),
    Case("unet", "tiny", 9, "divided"),
    Case("unet", "tiny", 14, "divided", dynamic=True, half=True),
    Case("unet", "tiny", 9, "sdpa", fold=False),
    Case("unet", "tiny", 17, "sdpa", dynamic=True),
    Case("unet", "tiny", 14, "baddbmm"),
    Case("unet", "tiny", 17, "baddbmm", fold=False, dynamic=True),
    Case("sdxl", "full", 17, "sdpa", built_in="sdxl-unet"),
    Case("sdxl", "tiny", 14, "einsum"),
    Case("controlnet", "full", 14, "sdpa"),
    Case("controlnet", "tiny", 17, "divided"),
    Case("vae_encoder", "full", 17, "sdpa", built_in="sd15-vae-encoder"),
    Case("vae_encoder", "tiny", 9, "einsum"),
    Case("vae_encoder", "tiny", 14, "sdpa", dynamic=True, half=True),
    Case("vae_decoder", "full", 9, "einsum", fold=False, built_in="sd15-vae-decoder"),
    Case("vae_decoder", "tiny", 17, "divided", dynamic=True),
    Case("vae_decoder", "tiny", 14, "baddbmm"),
    Case("clip", "full", 14, dynamic=True, built_in="sd15-text"),
    Case("clip", "tiny", 9, fold=False),
    Case("clip", "tiny", 17, half=True),
    Case("dit", "full", 17, built_in="dit-xl2"),
    Case("dit", "tiny", 14, fold=False),
    Case("dit", "tiny", 17, dynamic=True),
    Case("resnet50", "full", 9, built_in="resnet50"),
    Case("resnet50", "full", 17, keep_norms=True, built_in="resnet50"),
    Case("resnet50", "tiny", 14, dynamic=True),
    Case("resnet50", "tiny", 9, fold=False, keep_norms=True),
    Case("bert", "full", 14, dynamic=True, built_in="bert-base"),
    Case("bert", "tiny", 9),
    Case("bert", "tiny", 17, fold=False, dynamic=True),
    Case("gpt2", "full", 17),
    Case("gpt2_head", "full", 14, fold=False, dynamic=True),
    Case("gpt2", "tiny", 9, fold=False),
    Case("gpt2_head", "tiny", 14, half=True),
    Case("mobilenetv2", "full", 14, half=True, built_in="mobilenetv2"),
    Case("mobilenetv2", "tiny", 9, dynamic=True),
    Case("mobilenetv2", "tiny", 17, keep_norms=True),
    Case("vit", "full", 9),
    Case("vit", "tiny", 17, dynamic=True),
    Case("efficientnet", "full", 14),
    Case("efficientnet", "tiny", 9, keep_norms=True),
    Case("t5", "full", 14),
    Case("t5", "tiny", 17, dynamic=True),
    Case("llama", "full", 14, dynamic=True),
    Case("llama", "tiny", 17, fold=False),
    Case("yolo", "full", 17, keep_norms=True),
    Case("yolo", "tiny", 14, dynamic=True),
    Case("mmdit", "full", 14),
    Case("mmdit", "tiny", 17),
    Case("flux", "full", 17),
    Case("flux", "tiny", 14),
]
