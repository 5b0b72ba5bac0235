// Products by tiles are, bit for bit, those of plain loops: any shape, stride, instructions, threads.
#include "core/exec/kernels/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "core/exec/kernels/kernels_blocks.h"
#include "core/exec/kernels/kernels_simple.h"

namespace sdip::exec {
namespace {

std::vector<Vectors> vectors_here() {
  std::vector<Vectors> here;
  for (const Vectors vectors : {Vectors::portable, Vectors::avx2, Vectors::avx512})
    if (vectors <= widest_vectors()) here.push_back(vectors);
  return here;
}

/// Every task in a thread of its own, last first.
void in_threads(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  std::vector<std::jthread> threads;
  for (std::int64_t i = count - 1; i >= 0; --i) threads.emplace_back(task, i);
}

using KernelsEngine = std::mt19937_64;

std::int64_t drawn(KernelsEngine& engine, std::int64_t from, std::int64_t to) {
  return from + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(to - from + 1));
}

/// Numbers of both signs and of magnitudes that round; rarely, or never, what IEEE 754 treats apart.
float drawn_float(KernelsEngine& engine, bool special) {
  static constexpr float apart[] = {0.0F,
                                    -0.0F,
                                    1e-42F,
                                    -1e-40F,
                                    3e38F,
                                    -3e38F,
                                    std::numeric_limits<float>::infinity(),
                                    -std::numeric_limits<float>::infinity(),
                                    std::numeric_limits<float>::quiet_NaN()};
  if (special && engine() % 64 == 0) return apart[engine() % std::size(apart)];
  const auto exponent = static_cast<int>(engine() % 6) - 3;
  return std::ldexp(static_cast<float>(engine() >> 40) * 0x1p-23F - 1, exponent);
}

template <class T>
T drawn_number(KernelsEngine& engine, bool special) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(drawn_float(engine, special));
  else
    return static_cast<T>(engine() >> 32);
}

/// A matrix of random numbers in memory of any strides, and the same as blocks to be filled.
template <class T>
struct Drawn {
  std::vector<T> memory;
  Matrix<T> plain, filled;

  Drawn(KernelsEngine& engine, std::int64_t rows, std::int64_t columns, bool special) {
    const bool turned = engine() % 3 == 0;
    const std::int64_t beside = drawn(engine, 0, 3), along = engine() % 5 == 0 ? 2 : 1;
    plain.row_stride = turned ? along : (columns + beside) * along;
    plain.column_stride = turned ? (rows + beside) * along : along;
    if (engine() % 8 == 0 && !turned) plain.row_stride = (plain.row_stride + 255) / 256 * 256;
    memory.resize(static_cast<std::size_t>((rows + 1) * plain.row_stride + (columns + 1) * plain.column_stride));
    for (T& x : memory) x = drawn_number<T>(engine, special);
    plain.data = memory.data();
    filled.fill = [from = plain](const Block& block, T* to, std::int64_t stride) {
      for (std::int64_t r = 0; r < block.rows; ++r)
        for (std::int64_t c = 0; c < block.columns; ++c)
          to[r * stride + c] =
              from.data[(block.row + r) * from.row_stride + (block.column + c) * from.column_stride];
    };
  }
};

ProductShape drawn_shape(KernelsEngine& engine) {
  static constexpr std::int64_t lanes[] = {1, 1, 2, 3, 4, 5, 8, 12, 16, 16, 32, 64, 300};
  ProductShape shape;
  const std::int64_t most = engine() % 16 == 0 ? 120 : 40;
  shape.rows = drawn(engine, 1, most);
  shape.columns = drawn(engine, 1, most);
  shape.run = engine() % 8 == 0 ? drawn(engine, 250, 600) : drawn(engine, 1, 60);
  shape.depth = shape.run * drawn(engine, 1, shape.run > 100 ? 2 : 9);
  shape.lanes = lanes[engine() % std::size(lanes)];
  return shape;
}

template <class T>
auto bits_as_integers(const std::vector<T>& numbers) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::vector<Bits> bits;
  for (const T x : numbers) bits.push_back(std::bit_cast<Bits>(x));
  return bits;
}

/// One random product by each set of instructions, on one thread and on several, beside the plain loops.
template <class T, class S, class... Format>
void expect_same_bits(KernelsEngine& engine, const std::function<S()>& start, Format... format) {
  const ProductShape shape = drawn_shape(engine);
  const bool special = engine() % 2 == 0;
  const Drawn<T> left(engine, shape.rows, shape.depth, special), right(engine, shape.depth, shape.columns, special);
  const std::int64_t stride = shape.columns + drawn(engine, 0, 2);
  std::vector<S> before(static_cast<std::size_t>(shape.rows * stride));
  for (S& x : before) x = start();
  std::vector<S> want = before;
  multiply_simply(shape, format..., left.plain, right.plain, Sums<S>{want.data(), stride});
  Workspace workspace;
  for (const Vectors vectors : vectors_here())
    for (const std::int64_t threads : {1, 2, 3}) {
      std::vector<S> got = before;
      KernelOptions options{vectors, threads, in_threads, threads == 2 ? nullptr : &workspace};
      const auto& l = engine() % 2 == 0 ? left.plain : left.filled;
      const auto& r = engine() % 2 == 0 ? right.plain : right.filled;
      multiply(shape, format..., l, r, Sums<S>{got.data(), stride}, options);
      ASSERT_EQ(bits_as_integers(got), bits_as_integers(want))
          << shape.rows << " x " << shape.columns << " x " << shape.depth << " in runs of " << shape.run
          << ", lanes " << shape.lanes << ", instructions " << static_cast<int>(vectors) << ", threads " << threads;
    }
}

TEST(kernels, tiles_in_fp32_give_the_bits_of_plain_loops) {
  KernelsEngine engine(1);
  for (int i = 0; i < 400; ++i)
    expect_same_bits<float, float>(
        engine, [&] { return drawn_float(engine, i % 2 == 0); }, NumberFormat::fp32);
}

TEST(kernels, tiles_in_narrow_formats_give_the_bits_of_plain_loops) {
  KernelsEngine engine(2);
  for (const NumberFormat format : {NumberFormat::fp16, NumberFormat::bf16, NumberFormat::fp16_e6m9,
                                    NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2})
    for (int i = 0; i < 20; ++i) {
      const Rounding rounding = rounding_of(format);
      const auto start = [&] {
        return static_cast<float>(rounded_to(rounding, static_cast<double>(drawn_float(engine, false))));
      };
      expect_same_bits<float, float>(engine, start, format);
    }
}

TEST(kernels, tiles_in_fixed_point_give_the_bits_of_plain_loops) {
  KernelsEngine engine(3);
  for (const NumberFormat format : {NumberFormat::q3_4, NumberFormat::q7_8, NumberFormat::q15_16})
    for (int i = 0; i < 20; ++i)
      expect_same_bits<float, std::int32_t>(
          engine, [&] { return static_cast<std::int32_t>(drawn(engine, -100, 100)); }, format);
}

TEST(kernels, codes_give_the_bits_of_plain_loops_in_any_order) {
  KernelsEngine engine(4);
  for (const NumberFormat format :
       {NumberFormat::int32, NumberFormat::int16, NumberFormat::int8, NumberFormat::uint8, NumberFormat::int4})
    for (int i = 0; i < 40; ++i) {
      const auto start = [&] { return wrapped_to(format, static_cast<std::uint32_t>(engine())); };
      expect_same_bits<std::int8_t, std::int32_t>(engine, start, format);
      expect_same_bits<std::int16_t, std::int32_t>(engine, start, format);
    }
}

TEST(kernels, sums_in_double_and_modulo_2_to_the_64_give_the_bits_of_plain_loops) {
  KernelsEngine engine(5);
  for (int i = 0; i < 40; ++i) {
    expect_same_bits<double, double>(engine, [&] { return static_cast<double>(drawn_float(engine, false)); });
    expect_same_bits<std::uint64_t, std::uint64_t>(engine, [&] { return engine(); });
  }
}

TEST(kernels, the_largest_codes_wrap_and_do_not_saturate) {
  for (const Vectors vectors : vectors_here()) {
    const std::vector<std::int16_t> least(1000, -32768);
    std::vector<std::int32_t> sums(1, 5);
    const Matrix<std::int16_t> row{least.data(), 1000, 1}, column{least.data(), 1, 1};
    multiply({1, 1, 1000, 1000, 1}, NumberFormat::int32, row, column, Sums<std::int32_t>{sums.data(), 1},
             {vectors, 1, {}, nullptr});
    EXPECT_EQ(sums[0], 5);  // 1000 x 2^30 is a multiple of 2^32
    const std::vector<std::int8_t> small(1000, -128);
    const Matrix<std::int8_t> small_row{small.data(), 1000, 1}, small_column{small.data(), 1, 1};
    sums[0] = std::numeric_limits<std::int32_t>::max();
    multiply({1, 1, 1000, 1000, 1}, NumberFormat::int32, small_row, small_column,
             Sums<std::int32_t>{sums.data(), 1}, {vectors, 1, {}, nullptr});
    EXPECT_EQ(sums[0], std::numeric_limits<std::int32_t>::min() + 16383999);  // + 1000 x 2^14 wraps
  }
}

TEST(kernels, codes_begin_at_0_whatever_their_sums_hold_where_that_is_asked_for) {
  KernelsEngine engine(7);
  for (const Vectors vectors : vectors_here())
    for (int i = 0; i < 20; ++i) {
      const ProductShape shape{drawn(engine, 1, 30), drawn(engine, 1, 70), drawn(engine, 1, 600), 0, 1};
      std::vector<std::int8_t> left(static_cast<std::size_t>(shape.rows * shape.depth)),
          right(static_cast<std::size_t>(shape.depth * shape.columns));
      for (auto* codes : {&left, &right})
        for (std::int8_t& code : *codes) code = static_cast<std::int8_t>(engine());
      const ProductShape whole{shape.rows, shape.columns, shape.depth, shape.depth, 1};
      const Matrix<std::int8_t> l{left.data(), shape.depth, 1}, r{right.data(), shape.columns, 1};
      std::vector<std::int32_t> sums(static_cast<std::size_t>(shape.rows * shape.columns)),
          from_any(sums.size(), 77);
      multiply(whole, NumberFormat::int32, l, r, Sums<std::int32_t>{sums.data(), shape.columns},
               {vectors, 1, {}, nullptr});
      multiply(whole, NumberFormat::int32, l, r, Sums<std::int32_t>{from_any.data(), shape.columns},
               {vectors, 1, {}, nullptr, true});
      EXPECT_EQ(from_any, sums);
    }
}

TEST(kernels, a_product_too_large_for_one_block_of_rows_and_columns_gives_the_same_bits) {
  KernelsEngine engine(6);
  const ProductShape shape{4100, 8200, 3, 3, 1};
  const Drawn<float> left(engine, shape.rows, shape.depth, false), right(engine, shape.depth, shape.columns, false);
  std::vector<float> got(static_cast<std::size_t>(shape.rows * shape.columns));
  multiply(shape, NumberFormat::fp32, left.filled, right.filled, Sums<float>{got.data(), shape.columns},
           {widest_vectors(), 2, in_threads, nullptr});
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t row = drawn(engine, 0, shape.rows - 1), column = drawn(engine, 0, shape.columns - 1);
    float want = 0;
    for (std::int64_t k = 0; k < shape.depth; ++k)
      want = std::fma(left.plain.data[row * left.plain.row_stride + k * left.plain.column_stride],
                      right.plain.data[k * right.plain.row_stride + column * right.plain.column_stride], want);
    ASSERT_EQ(got[static_cast<std::size_t>(row * shape.columns + column)], want);
  }
}

TEST(kernels, what_a_fill_throws_arrives_and_a_product_of_nothing_asks_for_nothing) {
  Matrix<float> failing;
  failing.fill = [](const Block&, float*, std::int64_t) { throw std::out_of_range("never written"); };
  std::vector<float> sums(4, 1.0F);
  const Sums<float> to{sums.data(), 2};
  EXPECT_THROW(multiply({2, 2, 3, 3, 1}, NumberFormat::fp32, failing, failing, to, {}), std::out_of_range);
  multiply({2, 2, 0, 0, 1}, NumberFormat::fp32, failing, failing, to, {});
  multiply({0, 2, 3, 3, 1}, NumberFormat::fp32, failing, failing, to, {});
  EXPECT_EQ(sums, std::vector<float>(4, 1.0F));
}

TEST(kernels, blocks_of_the_depth_end_where_folds_do) {
  using Blocks = std::vector<DepthBlock>;
  EXPECT_EQ(depth_blocks({1, 1, 600, 300, 16}),
            (Blocks{{0, 256, 256}, {256, 44, 44}, {300, 256, 256}, {556, 44, 44}}));
  EXPECT_EQ(depth_blocks({1, 1, 300, 100, 16}), (Blocks{{0, 200, 100}, {200, 100, 100}}));
  EXPECT_EQ(depth_blocks({1, 1, 600, 600, 300}), (Blocks{{0, 300, 300}, {300, 300, 300}}));
  EXPECT_EQ(depth_blocks({1, 1, 300, 100, 1}), (Blocks{{0, 256, 300}, {256, 44, 300}}));
}

}  // namespace
}  // namespace sdip::exec
