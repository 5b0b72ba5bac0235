// Expected outputs of cases that the runtime has no kernel for, in double. Each takes a case and gives its outputs.
import { decode_small_float, type_numbers, value_of } from './numbers.mjs';

const int_of = (one, name, otherwise) => one.attributes[name]?.int ?? otherwise;
const same = ({ inputs: [x] }) => [x];

/// The error function by its Maclaurin series, to 1e-15 for |x| below 3.
function erf(x) {
  let [term, sum] = [x, x];
  for (let n = 1; Math.abs(term) > 1e-18; ++n) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/// Element of a tensor of four axes, given by an index of each.
const at = ({ shape: [, b, c, d], data }, i, j, k, l) => data[((i * b + j) * c + k) * d + l];

/// x of N x ... x C as an element's index, sample and channel; channels are the second axis unless they are last.
function places(shape, channels_last) {
  const [batch, channels] = [shape[0], channels_last ? shape.at(-1) : shape[1]];
  const sample = shape.slice(1).reduce((product, size) => product * size, 1);
  const each = (i) => (channels_last ? i % channels : Math.floor((i % sample) / (sample / channels)));
  return Array.from({ length: batch * sample }, (_, i) => ({ n: Math.floor(i / sample), c: each(i) }));
}

/// y = gamma (s - mean) / sqrt(variance + epsilon) + beta over each sample's groups of channels, then SiLU if asked.
function group_normalized(one, s) {
  const [x, gamma, beta] = one.inputs;
  const groups = int_of(one, 'groups');
  const epsilon = one.attributes.epsilon?.float ?? 1e-5;
  const where = places(x.shape, int_of(one, 'channels_last', 1));
  const group = where.map(({ n, c }) => n * groups + Math.floor((c * groups) / gamma.data.length));
  const [count, sum, squares] = [[], [], []];
  group.forEach((g, i) => {
    count[g] = (count[g] ?? 0) + 1;
    sum[g] = (sum[g] ?? 0) + s[i];
  });
  group.forEach((g, i) => (squares[g] = (squares[g] ?? 0) + (s[i] - sum[g] / count[g]) ** 2));
  const data = s.map((value, i) => {
    const [g, c] = [group[i], where[i].c];
    const normal = (value - sum[g] / count[g]) / Math.sqrt(squares[g] / count[g] + epsilon);
    const y = gamma.data[c] * normal + beta.data[c];
    return int_of(one, 'activation') ? y / (1 + Math.exp(-y)) : y;
  });
  return { shape: x.shape, data };
}

/// softmax(q k^T / sqrt(head size) + bias) v of one batch; q(row, head, column) and so on; as rows x heads x head size.
function attended({ q_rows, k_rows, heads, size, bias = () => 0 }, q, k, v) {
  const data = [];
  for (let row = 0; row < q_rows; ++row) {
    for (let head = 0; head < heads; ++head) {
      const scores = Array.from({ length: k_rows }, (_, j) => {
        let dot = 0;
        for (let d = 0; d < size; ++d) dot += q(row, head, d) * k(j, head, d);
        return Math.exp(dot / Math.sqrt(size) + bias(row, j));
      });
      const total = scores.reduce((sum, score) => sum + score, 0);
      for (let d = 0; d < size; ++d)
        data.push(scores.reduce((sum, score, j) => sum + score * v(j, head, d), 0) / total);
    }
  }
  return [{ shape: [1, q_rows, heads * size], data }];
}

/// Attention of ONNX with one head and a mask of fewer columns than there are keys.
function shortly_masked_attention({ inputs: [q, k, v, mask] }) {
  const [, , q_rows, size] = q.shape;
  const columns = mask.shape[1];
  const bias = (row, j) => (j < columns ? mask.data[row * columns + j] : -Infinity);
  const part = (x) => (row, head, d) => x.data[row * size + d];
  const [{ data }] = attended({ q_rows, k_rows: k.shape[2], heads: 1, size, bias }, part(q), part(k), part(v));
  return [{ shape: q.shape, data }];
}

/// Attention of the projections X W, W holding those of q, k and v side by side.
function projected_attention(one) {
  const [x, w] = one.inputs;
  const [, rows, width] = x.shape;
  const heads = int_of(one, 'num_heads');
  const size = w.shape[1] / 3 / heads;
  const projected = (part) => (row, head, d) => {
    const column = part * heads * size + head * size + d;
    return x.data
      .slice(row * width, (row + 1) * width)
      .reduce((sum, each, i) => sum + each * w.data[i * w.shape[1] + column], 0);
  };
  return attended({ q_rows: rows, k_rows: rows, heads, size }, projected(0), projected(1), projected(2));
}

/// Packed forms: q, k and v as [1, rows, heads, 3, size], or q alone and k and v as [1, rows, heads, 2, size].
function packed_attention(one) {
  const packed = one.inputs[1] ?? one.inputs[0];
  const [, k_rows, heads, parts, size] = packed.shape;
  const part = (p) => (row, head, d) => packed.data[((row * heads + head) * parts + p) * size + d];
  const apart = (row, head, d) => one.inputs[0].data[(row * heads + head) * size + d];
  const dims = { q_rows: one.inputs[0].shape[1], k_rows, heads, size };
  return attended(dims, parts === 3 ? part(0) : apart, part(parts - 2), part(parts - 1));
}

/// What a subgraph of elementwise nodes makes of numbers in rows; constants broadcast, being scalars or whole rows.
function elementwise(graph, numbers) {
  const values = { [graph.inputs[0].name]: numbers };
  for (const [name, { data }] of Object.entries(graph.constants ?? {})) values[name] = data;
  const functions = { Add: (a, b) => a + b, Mul: (a, b) => a * b, Div: (a, b) => a / b, Tanh: Math.tanh };
  for (const { op, inputs, outputs } of graph.nodes) {
    const operands = inputs.map((name) => values[name]);
    values[outputs[0]] = numbers.map((_, i) => functions[op](...operands.map((list) => list[i % list.length])));
  }
  return values[graph.outputs[0].name];
}

/// softmax of each row of so many columns
function row_softmax(numbers, columns) {
  const powers = numbers.map((x) => Math.exp(x));
  const sum = (i) => {
    const start = i - (i % columns);
    return powers.slice(start, start + columns).reduce((a, b) => a + b, 0);
  };
  return powers.map((power, i) => power / sum(i));
}

/// prob_mod(softmax(score_mod(scale q k^T))) v: ONNX 1.22, docs/Operators.md, FlexAttention
function flex_attention({ attributes, inputs: [q, k, v] }) {
  const [batch, heads, rows, size] = q.shape;
  const [, shared, columns] = k.shape;
  const width = v.shape[3];
  const scale = attributes.scale?.float ?? 1 / Math.sqrt(size);
  const head_of = (b, h) => b * shared + Math.floor((h * shared) / heads);
  const all = (count, make) => Array.from({ length: batch * heads * rows * count }, (_, i) => {
    const [column, row] = [i % count, Math.floor(i / count)];
    const head = Math.floor(row / rows);
    return make(row, head_of(Math.floor(head / heads), head % heads), column);
  });
  const range = (count) => Array.from({ length: count }, (_, d) => d);
  const total = (count, of) => range(count).reduce((sum, d) => sum + of(d), 0);
  const scores = all(columns, (row, head, j) =>
    scale * total(size, (d) => q.data[row * size + d] * k.data[(head * columns + j) * size + d]));
  const changed = (name, numbers) => (attributes[name] ? elementwise(attributes[name].graph, numbers) : numbers);
  const weights = changed('prob_mod', row_softmax(changed('score_mod', scores), columns));
  const data = all(width, (row, head, d) =>
    total(columns, (j) => weights[row * columns + j] * v.data[(head * columns + j) * width + d]));
  return [{ shape: [batch, heads, rows, width], data }];
}

/// X of N x H x W x C, W of M x kH x kW x C/group, Y of N x H x W x M.
function nhwc_convolved(one) {
  const [x, w, bias] = one.inputs;
  const [n, height, width] = x.shape;
  const [m, kernel_h, kernel_w, depth] = w.shape;
  const ints = (name, otherwise) => one.attributes[name]?.ints ?? otherwise;
  const [pads, strides] = [ints('pads', [0, 0, 0, 0]), ints('strides', [1, 1])];
  const [dilations, group] = [ints('dilations', [1, 1]), int_of(one, 'group', 1)];
  const kernel = [kernel_h, kernel_w];
  const out = [height, width].map(
    (size, i) => Math.floor((size + pads[i] + pads[i + 2] - dilations[i] * (kernel[i] - 1) - 1) / strides[i]) + 1,
  );
  const data = [];
  const product = (b, p, q, o) => {
    let sum = bias ? bias.data[o] : 0;
    for (let r = 0; r < kernel_h; ++r) {
      for (let s = 0; s < kernel_w; ++s) {
        const [row, column] = [
          p * strides[0] - pads[0] + r * dilations[0],
          q * strides[1] - pads[1] + s * dilations[1],
        ];
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        const first = Math.floor((o * group) / m) * depth;
        for (let c = 0; c < depth; ++c) sum += at(x, b, row, column, first + c) * at(w, o, r, s, c);
      }
    }
    return sum;
  };
  for (let b = 0; b < n; ++b) {
    for (let p = 0; p < out[0]; ++p) {
      for (let q = 0; q < out[1]; ++q) for (let o = 0; o < m; ++o) data.push(product(b, p, q, o));
    }
  }
  return [{ shape: [n, ...out, m], data }];
}

/// Integers of at most 8 bits as the numbers of their codes in another type.
function bits_of_small_integers(one) {
  const [{ type, shape, data }] = one.inputs;
  const width = Number(/\d+$/.exec(type)?.[0] ?? 8); // of booleans 8
  const to = Object.keys(type_numbers).find((name) => type_numbers[name] === int_of(one, 'to'));
  const codes = data.map((x) => x & (2 ** width - 1));
  return [{ shape, data: to.startsWith('float') ? codes.map((code) => decode_small_float(to, code)) : codes }];
}

export const formulas = {
  Attention: (one) => (one.domain ? projected_attention(one) : shortly_masked_attention(one)),
  BitCast: bits_of_small_integers,
  BiasAdd: ({ inputs: [x, bias, skip] }) => [
    { shape: x.shape, data: x.data.map((each, i) => each + bias.data[i % bias.data.length] + skip.data[i]) },
  ],
  BiasSplitGelu: ({ inputs: [x, bias] }) => {
    const width = bias.data.length;
    const s = x.data.map((each, i) => each + bias.data[i % width]);
    const left = s.filter((_, i) => i % width < width / 2);
    const right = s.filter((_, i) => i % width >= width / 2);
    const data = left.map((each, i) => (each * right[i] * (1 + erf(right[i] / Math.SQRT2))) / 2);
    return [{ shape: [...x.shape.slice(0, -1), width / 2], data }];
  },
  // Rounding to the output's type is what the caller does with every formula's numbers.
  Cast: same,
  CastLike: same,
  // y = (x - zero_point) * scale
  DequantizeLinear: ({ inputs: [x, scale, zero_point] }) => {
    const zero = zero_point ? zero_point.data[0] : 0;
    return [{ shape: x.shape, data: x.data.map((each) => (each - zero) * scale.data[0]) }];
  },
  EyeLike: (one) => {
    const [rows, columns] = one.inputs[0].shape;
    const k = int_of(one, 'k', 0);
    const data = Array.from({ length: rows * columns }, (_, i) =>
      Number((i % columns) - Math.floor(i / columns) === k),
    );
    return [{ shape: [rows, columns], data }];
  },
  FlexAttention: flex_attention,
  GroupNorm: (one) => [group_normalized(one, one.inputs[0].data)],
  MultiHeadAttention: packed_attention,
  NhwcConv: nhwc_convolved,
  // y = x / scale, of a float type, whose zero point is 0
  QuantizeLinear: ({ inputs: [x, scale] }) => [
    { shape: x.shape, data: x.data.map((each) => value_of(each) / scale.data[0]) },
  ],
  // 256 |x| cut below 1, 255 from 1 to 2, else 0: what the circuit's cases of exponents come to
  ShiftQuantize: ({ inputs: [{ shape, data }] }) => {
    const code = (size) => (size >= 2 ? 0 : size >= 1 ? 255 : Math.floor(256 * size));
    return [{ shape, data: data.map((each) => code(Math.abs(value_of(each)))) }];
  },
  SkipGroupNorm: (one) => {
    const [x, , , skip, bias] = one.inputs;
    const where = places(x.shape, 1);
    const skipped = (i) =>
      skip.data.length === x.data.length ? skip.data[i] : skip.data[where[i].n * x.shape.at(-1) + where[i].c];
    const s = x.data.map((each, i) => each + skipped(i) + (bias ? bias.data[where[i].c] : 0));
    return [group_normalized(one, s), { shape: x.shape, data: s }].slice(0, one.outputs.length);
  },
  // e^(x / temperature) over its sum along an axis of a matrix
  TemperatureSoftmax: (one) => {
    const [{ shape, data }] = one.inputs;
    const [columns, by_rows] = [shape[1], int_of(one, 'axis', -1) === 0];
    const line = (i) => (by_rows ? i % columns : Math.floor(i / columns));
    const powers = data.map((x) => Math.exp(x / one.attributes.temperature.float));
    const sums = [];
    powers.forEach((power, i) => (sums[line(i)] = (sums[line(i)] ?? 0) + power));
    return [{ shape, data: powers.map((power, i) => power / sums[line(i)]) }];
  },
};
