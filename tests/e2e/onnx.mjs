// A minimal ONNX file, written field by field: y = Relu(x), x of shape [batch, width], both left open.

const varint = (value) => {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return [...bytes, value];
};
const number = (field, value) => [...varint(field * 8), ...varint(value)];
const bytes = (field, content) => [...varint(field * 8 + 2), ...varint(content.length), ...content];
const text = (field, value) => bytes(field, [...Buffer.from(value)]);

/** A ValueInfoProto of a float tensor; a dimension that is text is symbolic. */
function value(name, shape) {
  const dims = shape.flatMap((size) => bytes(1, typeof size === 'string' ? text(2, size) : number(1, size)));
  return [...text(1, name), ...bytes(2, bytes(1, [...number(1, 1), ...bytes(2, dims)]))];
}

/** A ModelProto of opset 17 whose one node is a Relu, or `type`, over an input with open dimensions, of which the first is a batch. */
export function openReluModel(type = 'Relu', dims = ['batch', 'width']) {
  const node = [...text(1, 'x'), ...text(2, 'y'), ...text(3, 'relu'), ...text(4, type)];
  const graph = [...bytes(1, node), ...text(2, 'g'), ...bytes(11, value('x', dims)), ...bytes(12, value('y', dims))];
  return Buffer.from([...number(1, 8), ...text(2, 'e2e'), ...bytes(7, graph), ...bytes(8, [...text(1, ''), ...number(2, 17)])]);
}
