// Expected outputs of cases that the runtime has no kernel for, in double. Each takes a case and gives its outputs.
import { value_of } from './numbers.mjs';

const same = ({ inputs: [x] }) => [x];
const int_of = (one, name, otherwise) => one.attributes[name]?.int ?? otherwise;

/// Ties to even, as QuantizeLinear rounds: 2.5 is 2.
function nearest_even(x) {
  const low = Math.floor(x);
  return low + (x - low > 0.5 || (x - low === 0.5 && low % 2 !== 0) ? 1 : 0);
}

export const formulas = {
  // Rounding to the output's type is what the caller does with every formula's numbers.
  Cast: same,
  CastLike: same,
  EyeLike: (one) => {
    const [rows, columns] = one.inputs[0].shape;
    const k = int_of(one, 'k', 0);
    const data = Array.from({ length: rows * columns }, (_, i) => Number((i % columns) - Math.floor(i / columns) === k));
    return [{ shape: [rows, columns], data }];
  },
  // y = round(x / scale) + zero_point, saturated; a float type is rounded to instead of to an integer
  QuantizeLinear: ({ inputs: [x, scale], outputs: [type] }) => {
    const whole = type.includes('float') ? (y) => y : nearest_even;
    return [{ shape: x.shape, data: x.data.map((each) => whole(value_of(each) / scale.data[0])) }];
  },
  // y = (x - zero_point) * scale
  DequantizeLinear: ({ inputs: [x, scale, zero_point] }) => {
    const zero = zero_point ? zero_point.data[0] : 0;
    return [{ shape: x.shape, data: x.data.map((each) => (each - zero) * scale.data[0]) }];
  },
};
