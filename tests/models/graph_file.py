# What is done to a graph after PyTorch made it: weights without data, float16, and tensors in a file.
import numpy
import onnx
from onnx import TensorProto, numpy_helper

largest_kept_elements = 1024  # of constants; shape chains are smaller


def tensors_of(graph):
    """Initializers and tensors in attributes."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t


def weights_without_data(proto, inputs):
    """Inputs that are no inputs become initializers without data, and large constants lose theirs."""
    graph = proto.graph
    for value in [value for value in graph.input if value.name not in inputs]:
        kind = value.type.tensor_type
        graph.initializer.append(TensorProto(name=value.name, data_type=kind.elem_type,
                                             dims=[dim.dim_value for dim in kind.shape.dim]))
        graph.input.remove(value)
    for tensor in tensors_of(graph):
        if numpy.prod(tensor.dims, dtype=numpy.int64) > largest_kept_elements:
            tensor.ClearField("raw_data")


def half_of(tensor):
    array = numpy_helper.to_array(tensor)
    limit = numpy.finfo(numpy.float16).max
    with numpy.errstate(over="ignore"):
        finite = numpy.where(numpy.isinf(array), array, array.clip(-limit, limit))
    return finite.astype(numpy.float16)


def to_half(proto):
    """Everything float becomes float16: weights, constants, casts, inputs and outputs. (PyTorch 1.13 cannot trace
    convolutions in float16 on a CPU.) The scales and regions of Resize stay float, as ONNX wants them."""
    graph = proto.graph
    resizing = {name for node in graph.node if node.op_type in ("Resize", "Upsample") for name in node.input[1:]}
    kept = [tensor for tensor in graph.initializer if tensor.name in resizing]
    for node in graph.node:
        if node.op_type == "Constant" and node.output[0] in resizing:
            kept += [attribute.t for attribute in node.attribute]
        if node.op_type == "Cast" and node.output[0] not in resizing:
            for attribute in node.attribute:
                attribute.i = TensorProto.FLOAT16 if attribute.i == TensorProto.FLOAT else attribute.i
    for tensor in tensors_of(graph):
        if tensor.data_type != TensorProto.FLOAT or any(tensor is other for other in kept):
            continue
        if tensor.raw_data or tensor.float_data:
            array = half_of(tensor)
            tensor.ClearField("float_data")
            tensor.raw_data = array.tobytes()
        tensor.data_type = TensorProto.FLOAT16
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16


def values(named, half):
    """A graph of initializers alone: tensors by name."""
    graph = onnx.GraphProto(name="values")
    for name, tensor in named.items():
        array = tensor.detach().numpy()
        if half and array.dtype == numpy.float32:
            array = array.astype(numpy.float16)
        graph.initializer.append(numpy_helper.from_array(array, name))
    return graph
