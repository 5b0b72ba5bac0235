#!/usr/bin/python3
# Makes the graphs of this folder with PyTorch's exporter, PyTorch's own results of the tiny ones, and manifest.json,
# which says what each must hold. Usage: export.py [name of a case]...; README.md says more.
import gc
import gzip
import io
import json
import os
import sys
import warnings
import zlib
from contextlib import contextmanager

import onnx
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import graph_file
from architecture import patterns
from cases import cases, networks

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exported")


@contextmanager
def without_memory():
    """Every parameter made inside is one number repeated, each another: gigabytes of weights take no memory, and the
    exporter finds no two the same."""
    register, initialisers, made = nn.Module.register_parameter, {}, [0]

    def register_one(self, name, parameter):
        if parameter is not None:
            made[0] += 1
            parameter = nn.Parameter(torch.tensor(0.01 + 1e-5 * made[0]).expand(parameter.shape), requires_grad=False)
        register(self, name, parameter)

    nn.Module.register_parameter = register_one
    for name in [name for name in dir(nn.init) if name.endswith("_") and not name.startswith("_")]:
        initialisers[name] = getattr(nn.init, name)
        setattr(nn.init, name, lambda tensor, *_, **__: tensor)
    try:
        yield
    finally:
        nn.Module.register_parameter = register
        for name, function in initialisers.items():
            setattr(nn.init, name, function)


def randomise(model, seed):
    """Weights on a grid of 1/256, which float16 holds, too, and which packs well; gains and variances about 1."""
    rng = torch.Generator().manual_seed(seed)
    for name, tensor in model.state_dict().items():
        if not tensor.is_floating_point() or name == "inv_freq":
            continue
        spread = 0.2 if tensor.dim() == 1 else min(0.5, 1.2 * tensor[0].numel() ** -0.5)
        value = torch.randn(tensor.shape, generator=rng) * spread
        gain = name.endswith("running_var") or (tensor.dim() == 1 and name.endswith("weight"))
        tensor.copy_(torch.round(256 * (1 + value.clamp(-0.5, 0.5) if gain else value)) / 256)


class MacCount(TorchDispatchMode):
    """Counts multiply-accumulates as PyTorch runs: of convolutions, of products by a matrix of weights (all inside
    nn.Linear, and two-dimensional ones elsewhere), and of batches of products."""

    def __init__(self, model):
        super().__init__()
        self.conv = self.linear = self.matmul = 0
        self.inside = False
        for module in model.modules():
            if isinstance(module, nn.Linear):
                module.register_forward_pre_hook(lambda *_: self.enter(True))
                module.register_forward_hook(lambda *_: self.enter(False))

    def enter(self, inside):
        self.inside = inside

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0]
        if name in ("convolution", "_convolution", "convolution_overrideable"):
            self.conv += out.numel() * args[1][0].numel()
        if name in ("mm", "addmm", "bmm", "baddbmm"):
            macs = out.numel() * args[-2].shape[-1]
            if self.inside or name in ("mm", "addmm"):
                self.linear += macs
            else:
                self.matmul += macs
        return out


def counted(model, inputs):
    """MACs by kind and the shapes of the outputs, on tensors without data."""
    meta = model.to("meta")
    with torch.no_grad(), MacCount(meta) as count:
        results = meta(**{name: tensor.to("meta") for name, tensor in inputs.items()})
    results = [results] if torch.is_tensor(results) else results
    return dict(macs=dict(conv=count.conv, linear=count.linear, matmul=count.matmul),
                outputs=[list(result.shape) for result in results])


@contextmanager
def large_weights_left_out():
    """The exporter writes no weight of more than 64 elements; each is then an input of the graph. Nor does it copy
    them for its own shape inference."""
    deduplicate = torch._C._jit_pass_onnx_deduplicate_initializers
    infer = torch._C._jit_pass_onnx_graph_shape_type_inference

    def small(params):
        return {name: tensor for name, tensor in params.items()
                if tensor.numel() <= 64 or not tensor.is_floating_point()}

    torch._C._jit_pass_onnx_deduplicate_initializers = lambda graph, params, training: deduplicate(
        graph, small(params), training)
    torch._C._jit_pass_onnx_graph_shape_type_inference = lambda graph, params, opset: infer(graph, small(params), opset)
    try:
        yield
    finally:
        torch._C._jit_pass_onnx_deduplicate_initializers = deduplicate
        torch._C._jit_pass_onnx_graph_shape_type_inference = infer


def exported(case, model, inputs, outputs):
    buffer = io.BytesIO()
    axes = {}
    if case.dynamic:
        axes = {name: axes for name, axes in networks[case.network].axes.items() if name in [*inputs, *outputs]}
    training = torch.onnx.TrainingMode.PRESERVE if case.keep_norms else torch.onnx.TrainingMode.EVAL
    try:
        torch.onnx.export(model, tuple(inputs.values()), buffer, opset_version=case.opset,
                          do_constant_folding=case.fold, input_names=list(inputs), output_names=outputs,
                          dynamic_axes=axes, training=training)
    except (torch.onnx.CheckerError, onnx.checker.ValidationError) as error:
        # Written before it is checked. PyTorch 1.13 writes LayerNormalization without the scale that it must have
        # where a LayerNorm has no parameters; people have such files.
        if "LayerNormalization)'s input 1 is marked single but has an empty string" not in str(error):
            raise
    return onnx.load_from_string(buffer.getvalue())


def parameters(case, model):
    """PyTorch's count, and what the file holds besides: {reason: number}."""
    own = sum(parameter.numel() for parameter in model.parameters())
    besides = {}
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    if norms and not case.keep_norms:
        besides["each folded BatchNorm leaves a bias of its gain and bias"] = -sum(n.num_features for n in norms)
    if case.network == "gpt2_head" and case.fold:
        besides["the token embedding is stored a second time, transposed"] = model.wte.weight.numel()
    if case.network == "llama":
        besides["the rotary frequencies are a buffer"] = model.inv_freq.numel()
    return own, besides


def built_in(case, sizes):
    if not case.built_in:
        return None
    row = dict(model=case.built_in, batch=sizes["batch"])
    if case.network in ("unet", "sdxl", "vae_decoder"):
        row["image_px"] = 8 * sizes["height"]
    elif case.network == "dit":
        row["image_px"] = 8 * sizes["latent"]
    elif "height" in sizes:
        row["image_px"] = sizes["height"]
    if case.network == "bert":
        row["tokens"] = sizes["tokens"]
    return row


def run(case):
    network, name = networks[case.network], case.name
    traced = dict(network.usual[case.size], **case.sizes)
    sizes = dict(network.other) if case.dynamic and case.size == "tiny" else traced
    rng = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    tiny = case.size == "tiny"
    if tiny:
        model = network.tiny(case.form).eval()
        with torch.no_grad():
            randomise(model, zlib.crc32(case.model.encode()))
    else:
        with without_memory():
            model = network.full(case.form).eval()
    inputs = network.inputs(sizes, rng)
    outputs = list(network.outputs)
    with torch.no_grad():
        results = model(**inputs) if tiny else None
        if case.network == "controlnet":
            outputs = [f"skip_{i}" for i in range(len(model.skips) + 1)]
        with large_weights_left_out() if not tiny else warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proto = exported(case, model, network.inputs(traced, rng), outputs)
    if not tiny:
        graph_file.weights_without_data(proto, list(inputs))
    if case.half:
        graph_file.to_half(proto)
    own, besides = parameters(case, model)
    packed(name + ".onnx.gz", proto.SerializeToString())
    if tiny:
        results = [results] if torch.is_tensor(results) else list(results)
        named = {f"input {key}": value for key, value in inputs.items()}
        named.update({f"output {key}": value for key, value in zip(outputs, results)})
        packed(name + ".values.gz", graph_file.values(named, case.half).SerializeToString())
    dims = {}
    if case.dynamic:
        for tensor, axes in network.axes.items():
            if tensor in inputs:
                dims.update({axis: inputs[tensor].shape[at] for at, axis in axes.items()})
    row = dict(file=name, network=case.network, form=case.form, opset=case.opset, folded=case.fold, half=case.half,
               tiny=tiny, dims=dims, parameters=own, besides=besides, **counted(model, inputs),
               patterns=patterns(case), built_in=built_in(case, sizes))
    return {key: value for key, value in row.items() if value is not None}


def packed(name, content):
    """The same bytes at any time: no name and no date in the header."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as zipped:
            zipped.write(content)


def main(names):
    torch.set_num_threads(1)
    path = os.path.join(folder, "manifest.json")
    rows = {}
    if names and os.path.exists(path):
        with open(path) as file:
            rows = {row["file"]: row for row in json.load(file)}
    for case in cases:
        if not names or case.name in names:
            rows[case.name] = run(case)
            print(case.name, rows[case.name]["parameters"], rows[case.name]["macs"], flush=True)
            gc.collect()
    with open(path, "w") as file:
        ordered = [rows[case.name] for case in cases if case.name in rows]
        file.write("[\n" + ",\n".join(json.dumps(row) for row in ordered) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1:])
