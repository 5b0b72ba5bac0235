// Number formats of ONNX tensors: a type's number, its elements as bytes, and rounding to it.

// float formats: bits of exponent and fraction, exponent bias, and what the largest codes stand for
const small_floats = {
  float16: { exponent: 5, fraction: 10, bias: 15, special: 'ieee' },
  bfloat16: { exponent: 8, fraction: 7, bias: 127, special: 'ieee' },
  float8e4m3fn: { exponent: 4, fraction: 3, bias: 7, special: 'fn' },
  float8e4m3fnuz: { exponent: 4, fraction: 3, bias: 8, special: 'fnuz' },
  float8e5m2: { exponent: 5, fraction: 2, bias: 15, special: 'ieee' },
  float8e5m2fnuz: { exponent: 5, fraction: 2, bias: 16, special: 'fnuz' },
  float4e2m1: { exponent: 2, fraction: 1, bias: 1, special: 'none' },
  float8e8m0: { exponent: 8, fraction: 0, bias: 127, special: 'power' },
};

// TensorProto.DataType of ONNX's onnx.proto, by our names
export const type_numbers = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  boolean: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  uint64: 13,
  bfloat16: 16,
  float8e4m3fn: 17,
  float8e4m3fnuz: 18,
  float8e5m2: 19,
  float8e5m2fnuz: 20,
  uint4: 21,
  int4: 22,
  float4e2m1: 23,
  float8e8m0: 24,
  uint2: 25,
  int2: 26,
};

export const is_float = (type) => type in small_floats || type === 'float32' || type === 'float64';

// What JSON has no number for stands as text: "NaN", "Infinity", "-Infinity", integers beyond 2^53.
export const value_of = (written) => (typeof written === 'string' ? Number(written) : written);
export const written = (value) => (Number.isFinite(value) ? value : String(value));

const bits_of = ({ exponent, fraction, special }) => (special === 'power' ? 0 : 1) + exponent + fraction;

function decoded(format, code) {
  const { exponent, fraction, bias, special } = format;
  if (special === 'power') return code === 255 ? NaN : 2 ** (code - bias); // an exponent alone: neither sign nor 0
  const sign = code >> (exponent + fraction) ? -1 : 1;
  const e = (code >> fraction) & ((1 << exponent) - 1);
  const f = code & ((1 << fraction) - 1);
  const top = (1 << exponent) - 1;
  if (special === 'ieee' && e === top) return f ? NaN : sign * Infinity;
  if (special === 'fn' && e === top && f === (1 << fraction) - 1) return NaN;
  if (special === 'fnuz' && code === 1 << (exponent + fraction)) return NaN;
  return sign * (e === 0 ? f * 2 ** (1 - bias - fraction) : ((1 << fraction) + f) * 2 ** (e - bias - fraction));
}

const codes = {};
function codes_of(type) {
  if (!codes[type]) {
    codes[type] = new Map();
    for (let code = (1 << bits_of(small_floats[type])) - 1; code >= 0; --code) {
      codes[type].set(decoded(small_floats[type], code), code);
    }
  }
  return codes[type];
}

const largest_of = (type) => Math.max(...[...codes_of(type).keys()].filter(Number.isFinite));

export const decode_small_float = (type, code) => decoded(small_floats[type], code);

// The nearest number of a float type, ties to even: rounded('bfloat16', 1.00390625) is 1. Beyond the largest:
// infinity where the type has one, else the largest.
export function rounded(type, x) {
  if (type === 'float64' || !Number.isFinite(x) || x === 0) return x;
  if (type === 'float32') return Math.fround(x);
  const { exponent, fraction, bias, special } = small_floats[type];
  if (special === 'power') return x; // what a formula gives is one already
  const step = 2 ** (Math.max(Math.floor(Math.log2(Math.abs(x))), 1 - bias) - fraction);
  const steps = x / step;
  const low = Math.floor(steps);
  const up = steps - low > 0.5 || (steps - low === 0.5 && low % 2 !== 0);
  const y = (low + (up ? 1 : 0)) * step;
  if (special === 'ieee') return Math.abs(y) >= 2 ** (2 ** exponent - 1 - bias) ? Math.sign(y) * Infinity : y;
  return Math.sign(y) * Math.min(Math.abs(y), largest_of(type));
}

// The shortest decimal that reads back as the same float32; numbers of other types stand exactly.
export function shortest(type, x) {
  if (type !== 'float32' || !Number.isFinite(x)) return x;
  for (let digits = 3; digits < 17; ++digits) {
    const y = Number(x.toPrecision(digits));
    if (rounded(type, y) === x) return y;
  }
  return x;
}

// Elements of 4 or 2 bits stand two or four in a byte, the first in its lowest bits.
function packed(list, bits) {
  const in_each = 8 / bits;
  const bytes = Buffer.alloc(Math.ceil(list.length / in_each));
  list.forEach((code, i) => (bytes[Math.floor(i / in_each)] |= (code & (2 ** bits - 1)) << (bits * (i % in_each))));
  return bytes;
}

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  boolean: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
};

// Elements as TensorProto.raw_data holds them; refuses a small float that is none of its type's.
export function raw_bytes(type, data) {
  const [, narrow] = /^u?int([24])$/.exec(type) ?? [];
  if (narrow) return packed(data, Number(narrow));
  if (type in small_floats) {
    const list = data.map((x) => {
      const code = codes_of(type).get(value_of(x));
      if (code === undefined) throw new Error(`${x} is no ${type}`);
      return code;
    });
    if (type === 'float4e2m1') return packed(list, 4);
    return Buffer.from((bits_of(small_floats[type]) === 16 ? Uint16Array : Uint8Array).from(list).buffer);
  }
  const wide = type === 'int64' || type === 'uint64';
  return Buffer.from(arrays[type].from(data.map((x) => (wide ? BigInt(x) : value_of(x)))).buffer);
}
