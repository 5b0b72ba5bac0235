// Do quantities, number formats and shapes count as they say?
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/base/tensor.h"
#include "core/base/units.h"

namespace sdip {
namespace {

TEST(units, a_quotient_is_rounded_up_without_overflow) {
  EXPECT_EQ(ceil_div(0, 7), 0);
  EXPECT_EQ(ceil_div(7, 7), 1);
  EXPECT_EQ(ceil_div(8, 7), 2);
  EXPECT_EQ(ceil_div(std::numeric_limits<std::int64_t>::max(), 2), (std::int64_t{1} << 62));
}

TEST(units, bits_are_held_in_whole_bytes) {
  EXPECT_EQ(bytes_holding(Bits(0)), Bytes(0));
  EXPECT_EQ(bytes_holding(Bits(8)), Bytes(1));
  EXPECT_EQ(bytes_holding(Bits(9)), Bytes(2));
}

TEST(units, quantities_of_one_unit_add_scale_and_divide) {
  EXPECT_EQ(Cycles(3) + Cycles(4), Cycles(7));
  EXPECT_EQ(2 * Bytes(5) - Bytes(1), Bytes(9));
  EXPECT_EQ(Bytes(9) / Bytes(2), 4);
  EXPECT_DOUBLE_EQ((Cycles(500) / Hertz(1e9)).value, 5e-7);
}

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

TEST(units, quantities_of_different_units_do_not_add_or_compare) {
  EXPECT_TRUE((Addable<Cycles, Cycles>));
  EXPECT_FALSE((Addable<Cycles, Bytes>));
  EXPECT_FALSE((Addable<Cycles, std::int64_t>));
  EXPECT_FALSE((Comparable<Bits, Bytes>));
}

TEST(number_formats, every_row_stands_at_the_place_of_its_format) {
  EXPECT_EQ(number_formats[static_cast<std::size_t>(NumberFormat::bf16)].name, "bf16");
  EXPECT_EQ(number_formats[static_cast<std::size_t>(NumberFormat::q15_16)].name, "q15_16");
  EXPECT_EQ(number_formats[static_cast<std::size_t>(NumberFormat::msfp12)].name, "msfp12");
  EXPECT_EQ(std::size(number_formats), 25U);
  std::set<std::string_view> names;
  for (const auto& row : number_formats) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(number_formats, fixed_point_has_a_sign_bit_its_integer_and_its_fraction_bits) {
  EXPECT_EQ(bits_of(NumberFormat::q3_4), 1 + 3 + 4);
  EXPECT_EQ(bits_of(NumberFormat::q7_8), 1 + 7 + 8);
  EXPECT_EQ(bits_of(NumberFormat::q15_16), 1 + 15 + 16);
}

TEST(number_formats, the_digits_of_a_name_are_its_bits_and_floats_are_floating) {
  for (const auto& row : number_formats) {
    if (row.name[0] == 'q' || row.name.starts_with("msfp")) continue;
    const auto digits = row.name.substr(row.name.find_first_of("0123456789"));  // those before e5m2 and the like
    EXPECT_EQ(std::stoll(std::string(digits)), row.bits) << row.name;
    const bool integer = row.name.find("int") != std::string_view::npos;
    EXPECT_EQ(row.floating, !integer || row.block > 0) << row.name;
  }
}

TEST(shapes, elements_are_the_product_of_the_sizes_and_one_for_a_scalar) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({std::int64_t{1} << 60, 0, std::int64_t{1} << 60}), 0);
  EXPECT_EQ(element_count({std::int64_t{1} << 53}), std::int64_t{1} << 53);
  EXPECT_EQ(shape_text({1, 320, 64}), "[1,320,64]");
}

TEST(shapes, more_elements_than_2_to_the_53_or_a_negative_size_are_refused) {
  for (const Shape& shape : {Shape{(std::int64_t{1} << 53) + 1}, Shape{1 << 30, 1 << 30}, Shape{-1}, Shape{0, -1},
                             Shape{std::int64_t{1} << 62, 8}}) {
    try {
      element_count(shape);
      ADD_FAILURE() << shape_text(shape);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "model_too_large");
    }
  }
}

TEST(check, a_bug_of_our_own_is_another_type_than_an_error) {
  EXPECT_NO_THROW(check(true, "holds"));
  EXPECT_THROW(check(false, "does not hold"), Bug);
}

}  // namespace
}  // namespace sdip
