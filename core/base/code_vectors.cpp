// Codes of many numbers, and numbers of many codes, side by side in vectors.
//
// Each loop is written once for vectors of any length, and compiled for those of each set of instructions. Every
// number is rounded alone, so that all give the same bits.
#include "core/base/code_vectors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/in_vectors.h"

namespace sdip {
namespace {

/// The rule in plain words: of numbers near the middle of two codes.
template <class Code>
void encode_plainly(const StepRule& rule, const float* x, std::size_t count, std::byte* codes) {
  constexpr double shift = 6755399441055744.0;  // 1.5 x 2^52: adding and taking it away leaves a whole number
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<double>(x[i]);
    double whole = rule.divide ? number / rule.step : number * rule.step;
    whole = whole == whole ? whole : 0.0;
    whole = std::min(std::max(whole, rule.least), rule.most);
    const auto code = static_cast<Code>(static_cast<std::int64_t>((whole + shift) - shift) + rule.zero);
    std::memcpy(codes + i * sizeof(Code), &code, sizeof(Code));
  }
}

/// The factor of the numbers, and how far a product must be from a tie to be sure: 8-bit codes are made in float,
/// off by 2^8 2^-23 at most, wider ones in double, off by 2^31 2^-52.
template <class Number>
struct Factors {
  Number inverse, least, most;
  std::int32_t zero;
  static constexpr bool single = std::is_same_v<Number, float>;
  static constexpr Number sure = single ? Number(0.5 - 0x1p-13) : Number(0.5 - 0x1p-18);
  static constexpr Number shift = single ? Number(0x1.8p23) : Number(0x1.8p52);
};

/// Rounds a vector of products; `doubtful` is no longer 0 where one lies too near to a middle.
template <class V, class Number>
SDIP_EACH void round_products(V& q, const Factors<Number>& by, V& doubtful) {
  constexpr V none{};
  q = q * by.inverse;
  q = q == q ? q : none;  // NOLINT(misc-redundant-expression): NaN is not
  q = q < by.least ? none + by.least : q;
  q = q > by.most ? none + by.most : q;
  const V whole = (q + by.shift) - by.shift, off = q - whole, far = off < none ? -off : off;
  doubtful = far > by.sure ? far : doubtful;
  q = whole;
}

constexpr std::size_t block = 64;  // numbers rounded, or doubted, together

/// Codes of a block; false: some are doubtful. `Count`: numbers of single precision in a vector.
template <std::size_t Count, class Code, class Number>
SDIP_EACH bool encode_block(const Factors<Number>& by, const float* x, Code* codes) {
  constexpr std::size_t count = Count * sizeof(float) / sizeof(Number);
  using Numbers = SideBySide<Number, count>;
  using Whole = std::conditional_t<sizeof(Number) == 4, std::int32_t, std::int64_t>;
  Numbers doubtful{};
  for (std::size_t i = 0; i < block; i += count) {
    SideBySide<float, count> given;
    load(given, x + i);
    Numbers q = __builtin_convertvector(given, Numbers);
    round_products(q, by, doubtful);
    const auto whole = __builtin_convertvector(q, SideBySide<Whole, count>) + by.zero;
    const auto narrow = __builtin_convertvector(whole, SideBySide<Code, count>);
    store(narrow, codes + i);
  }
  return !any(doubtful);
}

template <std::size_t Count, class Code, class Number>
SDIP_EACH void encode_all(const StepRule& rule, const Factors<Number>& by, std::span<const float> x,
                          std::byte* codes) {
  Code made[block];
  std::size_t i = 0;
  for (; i + block <= x.size(); i += block) {
    if (!encode_block<Count>(by, x.data() + i, made))
      encode_plainly<Code>(rule, x.data() + i, block, reinterpret_cast<std::byte*>(made));
    std::memcpy(codes + i * sizeof(Code), made, sizeof(made));
  }
  encode_plainly<Code>(rule, x.data() + i, x.size() - i, codes + i * sizeof(Code));
}

/// By the width of a code. (A step whose inverse in float may not be a normal number is divided by.)
template <std::size_t Count>
SDIP_EACH void encode_each(const StepRule& rule, std::int64_t bytes, std::span<const float> x, std::byte* codes) {
  const double inverse = rule.divide ? 1 / rule.step : rule.step;
  const auto zero = static_cast<std::int32_t>(rule.zero);
  const Factors<float> single{static_cast<float>(inverse), static_cast<float>(rule.least),
                              static_cast<float>(rule.most), zero};
  const Factors<double> wide{inverse, rule.least, rule.most, zero};
  const bool normal = inverse > 0x1p-100 && inverse < 0x1p100;
  if (bytes == 1 && normal) return encode_all<Count, std::uint8_t>(rule, single, x, codes);
  if (bytes == 1) return encode_plainly<std::uint8_t>(rule, x.data(), x.size(), codes);
  if (bytes == 2) return encode_all<Count, std::uint16_t>(rule, wide, x, codes);
  encode_all<Count, std::uint32_t>(rule, wide, x, codes);
}

/// As float_bits (core/base/encode.cpp) says it, without branches: what lies below half of the smallest number is
/// shifted out.
template <std::size_t Count, class Code>
SDIP_EACH void encode_floats_each(const FloatLayout& layout, bool infinities, std::span<const float> x,
                                  std::byte* codes) {
  const int fraction_bits = layout.fraction_bits, bias = layout.bias();
  const std::uint32_t infinite = layout.largest + (infinities && layout.infinities ? 1 : 0);
  using Bits = SideBySide<std::uint32_t, Count>;
  using Wholes = SideBySide<std::int32_t, Count>;
  const auto encode = [&](const float* from, std::byte* to) SDIP_LOOP {
    constexpr Bits none{};
    constexpr Wholes no_whole{};
    Bits bits;
    load(bits, from);
    const Bits sign = (bits >> 31) << (layout.exponent_bits + fraction_bits), magnitude = bits & 0x7fffffff;
    const Wholes field = reinterpret_cast<Wholes>(magnitude >> 23);
    const Bits fraction = magnitude & 0x7fffff;
    const Bits significand = field == 0 ? fraction : fraction | 0x800000;
    const Wholes exponent = (field > 1 ? field : no_whole + 1) - 127;
    const Wholes kept = exponent > 1 - bias ? exponent : no_whole + (1 - bias);
    const Wholes shifted = kept - exponent + (23 - fraction_bits);
    const Bits shift = reinterpret_cast<Bits>(shifted > 25 ? no_whole + 25 : shifted);
    const Bits odd = significand >> shift & 1;
    const Bits rounded = (significand + ((none + 1) << (shift - 1)) - 1 + odd) >> shift;
    Bits code = (reinterpret_cast<Bits>(kept + (bias - 1)) << fraction_bits) + rounded;
    code = code > layout.largest ? none + layout.largest : code;
    code = magnitude == 0x7f800000 ? none + infinite : code;
    code = magnitude > 0x7f800000 ? none + layout.nan : code;
    const auto narrow = __builtin_convertvector(code | sign, SideBySide<Code, Count>);
    store(narrow, to);
  };
  std::size_t i = 0;
  for (; i + Count <= x.size(); i += Count) encode(x.data() + i, codes + i * sizeof(Code));
  if (i == x.size()) return;
  float rest[Count] = {};
  std::byte made[Count * sizeof(Code)];
  std::copy(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), rest);
  encode(rest, made);
  std::memcpy(codes + i * sizeof(Code), made, (x.size() - i) * sizeof(Code));
}

template <std::size_t Count, class Code>
SDIP_EACH void decode_all(float step, std::int32_t zero, const std::byte* codes, std::span<float> numbers) {
  std::size_t i = 0;
  using Floats = SideBySide<float, Count>;
  for (; i + Count <= numbers.size(); i += Count) {
    SideBySide<Code, Count> given;
    load(given, codes + i * sizeof(Code));
    // In two steps: g++ 12 widens a vector no more than twofold at once.
    using Twice = std::conditional_t<std::is_signed_v<Code>, std::int16_t, std::uint16_t>;
    const auto wider = __builtin_convertvector(given, SideBySide<Twice, Count>);
    const auto whole = __builtin_convertvector(wider, SideBySide<std::int32_t, Count>) - zero;
    const Floats x = __builtin_convertvector(whole, Floats) * step;
    store(x, numbers.data() + i);
  }
  for (; i < numbers.size(); ++i) {
    Code code;
    std::memcpy(&code, codes + i * sizeof(Code), sizeof(Code));
    numbers[i] = static_cast<float>(static_cast<std::int32_t>(code) - zero) * step;
  }
}

template <std::size_t Count>
SDIP_EACH void decode_each(float step, std::int64_t zero, bool with_sign, std::int64_t bytes,
                           const std::byte* codes, std::span<float> numbers) {
  const auto less = static_cast<std::int32_t>(zero);
  if (bytes == 1 && with_sign) return decode_all<Count, std::int8_t>(step, less, codes, numbers);
  if (bytes == 1) return decode_all<Count, std::uint8_t>(step, less, codes, numbers);
  if (with_sign) return decode_all<Count, std::int16_t>(step, less, codes, numbers);
  decode_all<Count, std::uint16_t>(step, less, codes, numbers);
}

template <std::size_t Count>
SDIP_EACH void find_range(std::span<const float> numbers, FloatRange& range) {
  using Floats = SideBySide<float, Count>;
  constexpr Floats none{};
  Floats least{}, most{}, strange{};
  std::size_t i = 0;
  for (; i + Count <= numbers.size(); i += Count) {
    Floats x;
    load(x, numbers.data() + i);
    least = x < least ? x : least;
    most = x > most ? x : most;
    strange = (x - x) == none ? strange : none + 1;  // NOLINT(misc-redundant-expression): nor infinity
  }
  for (std::size_t lane = 0; lane < Count; ++lane) {
    range.least = std::min(range.least, least[lane]);
    range.most = std::max(range.most, most[lane]);
  }
  range.finite = !any(strange);
  for (; i < numbers.size(); ++i) {
    range.least = std::min(range.least, numbers[i]);
    range.most = std::max(range.most, numbers[i]);
    range.finite = range.finite && std::isfinite(numbers[i]);
  }
}

}  // namespace

void encode_steps(const StepRule& rule, std::int64_t bytes, std::span<const float> numbers, std::byte* codes,
                  Vectors vectors) {
  check(rule.step > 0, "a positive step");
  in_vectors(vectors, [&](auto count) SDIP_LOOP { encode_each<count>(rule, bytes, numbers, codes); });
}

void encode_floats(const FloatLayout& layout, bool infinities, std::int64_t bytes, std::span<const float> numbers,
                   std::byte* codes, Vectors vectors) {
  in_vectors(vectors, [&](auto count) SDIP_LOOP {
    if (bytes == 1)
      encode_floats_each<count, std::uint8_t>(layout, infinities, numbers, codes);
    else
      encode_floats_each<count, std::uint16_t>(layout, infinities, numbers, codes);
  });
}

void decode_steps(float step, std::int64_t zero, bool with_sign, std::int64_t bytes, const std::byte* codes,
                  std::span<float> numbers, Vectors vectors) {
  in_vectors(vectors,
             [&](auto count) SDIP_LOOP { decode_each<count>(step, zero, with_sign, bytes, codes, numbers); });
}

FloatRange range_of(std::span<const float> numbers, Vectors vectors) {
  FloatRange range;
  in_vectors(vectors, [&](auto count) SDIP_LOOP { find_range<count>(numbers, range); });
  return range;
}

}  // namespace sdip
