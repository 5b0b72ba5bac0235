# What each network is made of, counted by hand from its architecture: what a reader of its graph must find again.
# A "linear" is every product by a weight matrix but convolutions; LayerNorm stands here even where the graph holds
# it in one node (opset 17); batchnorm_folded counts the norms behind a convolution.


def unet(res_blocks, transformers, blocks, linear, levels, skips, embeddings=1):
    return dict(groupnorm=2 * res_blocks + transformers + 1, layernorm=3 * blocks,
                silu=embeddings + 1 + 2 * res_blocks + 1, gelu=blocks, geglu=blocks, attention=2 * blocks,
                linear=linear, timestep_embedding=embeddings, upsample_nearest_2x=levels - 1, skip_concat=skips)


def controlnet(res_blocks, transformers, hint_silu, linear):
    return dict(groupnorm=2 * res_blocks + transformers, layernorm=3 * transformers,
                silu=2 + 2 * res_blocks + hint_silu, gelu=transformers, geglu=transformers, attention=2 * transformers,
                linear=linear, timestep_embedding=1, upsample_nearest_2x=0, skip_concat=0)


def vae(res_blocks, upsamplers):
    return dict(groupnorm=2 * res_blocks + 2, silu=2 * res_blocks + 1, attention=1, linear=4,
                upsample_nearest_2x=upsamplers)


def pre_norm(layers, linear, activation="gelu"):
    return {"layernorm": 2 * layers + 1, activation: layers, "attention": layers, "linear": linear}


def denoiser(norms, gelu, silu, attention, linear, **others):
    """Every LayerNorm is followed by a scale and a shift."""
    return dict(layernorm=norms, adaln_modulate=norms, gelu=gelu, silu=silu, attention=attention, linear=linear,
                timestep_embedding=1, **others)


made_of = {
    # SD 1.5: 22 residual blocks (8 down, 2 in the middle, 12 up), 16 transformers of one block (6, 1, 9).
    # Linear: 2 for the time, 1 a residual block, and a block's q, k, v, out twice and 2 of its GEGLU; kjsman's
    # self-attention has one for q, k and v. SiLU: in the time embedding, and once for all blocks of what comes out.
    ("unet", "full"): unet(22, 16, 16, 2 + 22 + 16 * 10, levels=4, skips=12),
    ("unet_divided", "full"): unet(22, 16, 16, 2 + 22 + 16 * 8, levels=4, skips=12),
    ("unet", "tiny"): unet(8, 4, 4, 2 + 8 + 4 * 10, levels=2, skips=4),
    ("unet_divided", "tiny"): unet(8, 4, 4, 2 + 8 + 4 * 8, levels=2, skips=4),
    # SDXL: 17 residual blocks (6, 2, 9), 11 transformers (4, 1, 6) of 70 blocks (2 * 2 + 2 * 10, 10, 3 * 10 + 3 * 2);
    # each transformer projects in and out by linear layers; the added embedding has 2 and a SiLU.
    ("sdxl", "full"): unet(17, 11, 70, 4 + 17 + 11 * 2 + 70 * 10, levels=3, skips=9, embeddings=2),
    ("sdxl", "tiny"): unet(8, 4, 8, 4 + 8 + 4 * 2 + 8 * 10, levels=2, skips=4, embeddings=2),
    # Half a U-Net without its last norm: 10 residual blocks, 7 transformers; 7 (tiny: 3) SiLU on the hint.
    ("controlnet", "full"): controlnet(10, 7, 7, 2 + 10 + 7 * 10),
    ("controlnet_divided", "tiny"): controlnet(4, 2, 3, 2 + 4 + 2 * 8),
    # 2 * 4 + 2 residual blocks to encode, 3 * 4 + 2 to decode; a norm before the attention and one at the end.
    ("vae_encoder", "full"): vae(10, 0),
    ("vae_decoder", "full"): vae(14, 3),
    ("vae_encoder", "tiny"): vae(4, 0),
    ("vae_decoder", "tiny"): vae(6, 1),
    ("clip", "full"): pre_norm(12, 12 * 6, "quick_gelu"),
    ("clip", "tiny"): pre_norm(2, 2 * 6, "quick_gelu"),
    # BERT's norms come after; one more after the embeddings. The pooler is linear.
    ("bert", "full"): pre_norm(12, 12 * 6 + 1),
    ("bert", "tiny"): pre_norm(2, 2 * 6 + 1),
    ("gpt2", "full"): pre_norm(12, 12 * 4),
    ("gpt2", "tiny"): pre_norm(2, 2 * 4),
    ("gpt2_head", "full"): pre_norm(12, 12 * 4 + 1),
    ("gpt2_head", "tiny"): pre_norm(2, 2 * 4 + 1),
    ("vit", "full"): pre_norm(12, 12 * 4 + 1),
    ("vit", "tiny"): pre_norm(2, 2 * 4 + 1),
    # Two norms and four linear layers a block, one for its modulation; SiLU in the time embedding, and of the
    # condition, which all blocks share.
    ("dit", "full"): denoiser(57, 28, 2, 28, 28 * 5 + 4, unpatchify=1),
    ("dit", "tiny"): denoiser(5, 2, 2, 2, 2 * 5 + 4, unpatchify=1),
    # Two streams a block, of 7 linear layers and 2 norms (the last block's text: 4 and 1); context, twice 2 of
    # embeddings, 2 at the end.
    ("mmdit", "full"): denoiser(16, 7, 3, 4, 7 * 8 - 3 + 7, unpatchify=1),
    ("mmdit", "tiny"): denoiser(8, 3, 3, 2, 7 * 4 - 3 + 7, unpatchify=1),
    # One double block (two streams of 7 linear layers), single blocks of 3; norms and rotations of q and k.
    ("flux", "full"): denoiser(7, 4, 3, 3, 14 + 2 * 3 + 8, rmsnorm=8, rotary=6),
    ("flux", "tiny"): denoiser(6, 3, 3, 2, 14 + 3 + 8, rmsnorm=6, rotary=4),
    ("resnet50", "full"): dict(batchnorm_folded=53, linear=1),
    ("resnet50", "tiny"): dict(batchnorm_folded=12, linear=1),
    ("mobilenetv2", "full"): dict(batchnorm_folded=52, linear=1),
    ("mobilenetv2", "tiny"): dict(batchnorm_folded=10, linear=1),
    # 16 blocks, 15 of which expand; SiLU after every norm but the projections', and in squeeze and excitation,
    # whose product of a sigmoid and a SiLU's result is no SwiGLU.
    ("efficientnet", "full"): dict(batchnorm_folded=49, silu=49, swiglu=0, linear=1),
    ("efficientnet", "tiny"): dict(batchnorm_folded=10, silu=10, swiglu=0, linear=1),
    ("yolo", "full"): dict(batchnorm_folded=17, silu=17, upsample_nearest_2x=1),
    ("yolo", "tiny"): dict(batchnorm_folded=17, silu=17, upsample_nearest_2x=1),
    ("t5", "full"): dict(rmsnorm=17, gelu=8, attention=8, linear=8 * 7),
    ("t5", "tiny"): dict(rmsnorm=5, gelu=2, attention=2, linear=2 * 7),
    ("llama", "full"): dict(rmsnorm=9, rotary=8, silu=4, swiglu=4, attention=4, linear=4 * 7 + 1),
    ("llama", "tiny"): dict(rmsnorm=5, rotary=4, silu=2, swiglu=2, attention=2, linear=2 * 7 + 1),
}


def patterns(case):
    """Those of a case: what its options change."""
    found = dict(made_of[case.model if (case.model, case.size) in made_of else case.network, case.size])
    if case.network.startswith("vae") and case.form in ("einsum", "divided"):
        found["linear"] = {"einsum": 0, "divided": 2}[case.form]  # by convolutions; one for q, k and v
    if case.opset >= 17:
        found.pop("layernorm", None)  # nothing to recognise: the exporter writes one node
    if not case.keep_norms:
        found.pop("batchnorm_folded", None)  # the exporter folded them
    return found
