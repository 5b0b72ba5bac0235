// A case as the bytes of an ONNX model: one node, its inputs as initializers. Field numbers are onnx.proto's.
import { raw_bytes, type_numbers } from './numbers.mjs';

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}
const integer = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const block = (field, bytes) => Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
const text = (field, string) => block(field, Buffer.from(string));
const single = (field, value) => Buffer.concat([varint(field * 8 + 5), Buffer.from(Float32Array.of(value).buffer)]);

const tensor = ({ type, shape, data }, name) =>
  Buffer.concat([
    ...shape.map((size) => integer(1, size)),
    integer(2, type_numbers[type]),
    text(8, name),
    block(9, raw_bytes(type, data)),
  ]);

function value_info({ name, type, shape }) {
  const sizes = shape?.map((size) => block(1, integer(1, size)));
  const tensor_type = [integer(1, type_numbers[type]), ...(sizes ? [block(2, Buffer.concat(sizes))] : [])];
  return Buffer.concat([text(1, name), ...(type ? [block(2, block(1, Buffer.concat(tensor_type)))] : [])]);
}

// kind: number of the kind in AttributeProto.AttributeType, and the field that holds the value
const kinds = {
  float: [1, (value) => single(2, value)],
  int: [2, (value) => integer(3, value)],
  string: [3, (value) => text(4, value)],
  tensor: [4, (value) => block(5, tensor(value, 'value'))],
  graph: [5, (value) => block(6, graph(value))],
  floats: [6, (value) => Buffer.concat(value.map((x) => single(7, x)))],
  ints: [7, (value) => Buffer.concat(value.map((x) => integer(8, x)))],
  strings: [8, (value) => Buffer.concat(value.map((x) => text(9, x)))],
};

function attribute(name, described) {
  const [kind] = Object.keys(described);
  const [number, field] = kinds[kind];
  return Buffer.concat([text(1, name), field(described[kind]), integer(20, number)]);
}

const node = ({ op, domain = '', inputs, outputs, attributes = {} }) =>
  Buffer.concat([
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(3, op + '_of_' + outputs[0]),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => block(5, attribute(name, value))),
    text(7, domain),
  ]);

const graph = ({ nodes, inputs = [], outputs, constants = {} }) =>
  Buffer.concat([
    ...nodes.map((each) => block(1, node(each))),
    text(2, 'case'),
    ...Object.entries(constants).map(([name, value]) => block(5, tensor(value, name))),
    ...inputs.map((each) => block(11, value_info(each))),
    ...outputs.map((each) => block(12, value_info(each))),
  ]);

// IR versions that ONNX's docs/Versioning.md pairs with an opset
const ir_version_of = (opset) =>
  opset < 19 ? 8 : opset < 21 ? 9 : opset < 23 ? 10 : opset < 24 ? 11 : opset < 25 ? 12 : 13;

// The runtime gives no values of these types to JavaScript: they are cast on the way out, which is exact.
const fetched_as = (type) => (/float8|float4|bfloat16/.test(type) ? 'float32' : type.startsWith('u') ? 'uint8' : 'int8');
const unfetched = /float8|float4|bfloat16|^u?int[24]$/;

/// A model of nodes, inputs, outputs and constants; `imports`: domains and their opsets, ONNX's own first.
export const model_of_graph = (described, imports = [['', 17]]) =>
  Buffer.concat([
    integer(1, ir_version_of(imports[0][1])),
    block(7, graph(described)),
    ...imports.map(([domain, version]) => block(8, Buffer.concat([text(1, domain), integer(2, version)]))),
  ]);

/// The model of a case, and the types in which its outputs come out.
export function model_of(one) {
  const opset = one.domain ? 17 : one.opset;
  const constants = {};
  const inputs = one.inputs.map((input, i) => {
    if (input) constants['in' + i] = input;
    return input ? 'in' + i : '';
  });
  one.captured?.forEach((value, i) => (constants['captured' + i] = value));
  const outputs = one.outputs.map((type, i) => (type ? 'out' + i : ''));
  const nodes = [{ ...one, inputs, outputs }];
  const results = outputs.flatMap((name, i) => {
    if (!name) return [];
    if (!unfetched.test(one.outputs[i])) return [{ name, type: one.outputs[i] }];
    const type = fetched_as(one.outputs[i]);
    const to = { to: { int: type_numbers[type] } };
    nodes.push({ op: 'Cast', inputs: [name], outputs: ['as_' + name], attributes: to });
    return [{ name: 'as_' + name, type }];
  });
  const imports = [['', opset], ...(one.domain ? [[one.domain, one.opset]] : [])];
  const model = model_of_graph({ nodes, outputs: results, constants }, imports);
  return { model, types: results.map(({ type }) => type) };
}
