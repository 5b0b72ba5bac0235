// The elements of block formats as lists, made from exponent and fraction by doubling, and how a block is coded by
// search among them: nothing of core/base/encode.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/number_format.h"

namespace sdip {

/// The numbers from 0 up, by code, of a float with so many bits of exponent and fraction that ends at `largest`.
inline std::vector<double> float_elements(int exponent_bits, int fraction_bits, double largest) {
  const int steps = 1 << fraction_bits;
  double unit = 1;  // spacing of the smallest
  for (int i = 0; i < (1 << (exponent_bits - 1)) - 2 + fraction_bits; ++i) unit /= 2;
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) all.push_back(i * unit);
  for (double spacing = unit; all.back() < largest; spacing *= 2)
    for (int i = steps; i < 2 * steps && all.back() < largest; ++i) all.push_back(i * spacing);
  return all;
}

/// Not below 0, by code; of nf4 all sixteen.
inline std::vector<double> elements_of(NumberFormat format) {
  const auto whole = [](int most, double step) {
    std::vector<double> all;
    for (int i = 0; i <= most; ++i) all.push_back(i * step);
    return all;
  };
  switch (format) {
    case NumberFormat::mxfp8:
      return float_elements(4, 3, 448);
    case NumberFormat::mxfp8_e5m2:
      return float_elements(5, 2, 57344);
    case NumberFormat::mxfp6:
      return float_elements(2, 3, 7.5);
    case NumberFormat::mxfp6_e3m2:
      return float_elements(3, 2, 28);
    case NumberFormat::mxfp4:
    case NumberFormat::nvfp4:
      return {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    case NumberFormat::mxint8:
    case NumberFormat::msfp16:
      return whole(127, 1.0 / 64);
    case NumberFormat::msfp12:
      return whole(7, 0.25);
    default: {
      std::vector<double> all;
      for (const float x : {-1.0F, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F,
                            -0.28444138169288635F, -0.18477343022823334F, -0.09105003625154495F, 0.0F,
                            0.07958029955625534F, 0.16093020141124725F, 0.24611230194568634F, 0.33791524171829224F,
                            0.44070982933044434F, 0.5626170039176941F, 0.7229568362236023F, 1.0F})
        all.push_back(static_cast<double>(x));
      return all;
    }
  }
}

/// The nearest of a list; of two the one at an even place.
inline double nearest_of(const std::vector<double>& list, double x) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const double far = std::fabs(list[i] - x), least = std::fabs(list[best] - x);
    if (far < least || (far == least && i % 2 == 0)) best = i;
  }
  return list[best];
}

inline double nearest_element(NumberFormat format, double x) {
  const std::vector<double> list = elements_of(format);
  return format == NumberFormat::nf4 ? nearest_of(list, x) : std::copysign(nearest_of(list, std::fabs(x)), x);
}

/// The scale of a block whose largest magnitude is `reach`, in a tensor whose largest is `most`, as
/// docs/model/numbers.md says it.
inline double searched_scale(NumberFormat format, double reach, double most) {
  if (format == NumberFormat::nf4) return reach == 0 ? 1 : reach;
  if (format == NumberFormat::nvfp4) {
    const double tensor = most == 0 ? 1 : static_cast<double>(static_cast<float>(most / 2688));
    const double own = static_cast<double>(static_cast<float>(reach / 6 / tensor));
    const double code = std::max(nearest_of(float_elements(4, 3, 448), own), std::ldexp(1.0, -9));
    return static_cast<double>(static_cast<float>(code * tensor));
  }
  if (reach == 0) return std::ldexp(1.0, -127);
  const std::vector<double> list = elements_of(format);
  double element = 1, power = 1;
  while (element * 2 <= list.back()) element *= 2;
  while (element > list.back()) element /= 2;
  while (power * 2 <= reach) power *= 2;
  while (power > reach) power /= 2;
  return power / element;
}

}  // namespace sdip
