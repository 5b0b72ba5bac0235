// Is every place that can go wrong changed once, and nothing else?
#include "tests/mutants/rewrite.h"

#include <gmock/gmock.h>

namespace sdip::mutants {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> changes_of(std::string_view source) {
  std::vector<std::string> changes;
  for (const Mutant& m : rewrite(source, "a.cpp", 0).mutants) changes.push_back(m.change);
  return changes;
}
std::string text_of(std::string_view source) { return rewrite(source, "a.cpp", 0).text; }

TEST(mutants, a_returned_sum_has_three) {
  EXPECT_EQ(text_of("int f() { return a + b; }"),
            "int f() { return mutant::off<1, true>(a + mutant::Plus<0>{} + b); }");
  EXPECT_THAT(changes_of("int f() { return a + b; }"),
              ElementsAre("a + b -> -", "return a + b -> + 1", "return a + b -> - 1"));
}

TEST(mutants, of_a_name_that_is_returned_let_it_be_moved) {
  EXPECT_EQ(text_of("T f() { return all; }"), "T f() { return mutant::returned<0, true>(all); }");
}

TEST(mutants, are_numbered_from_the_first_and_carry_file_and_line) {
  const Rewritten made = rewrite("int f() {\n  return g(a);\n}\n", "core/cost/a.cpp", 40);
  ASSERT_FALSE(made.mutants.empty());
  EXPECT_EQ(made.mutants[0].number, 40);
  EXPECT_EQ(made.mutants[0].file, "core/cost/a.cpp");
  EXPECT_EQ(made.mutants[0].line, "return g(a);");
}

TEST(mutants, that_read_alike_are_told_apart) {
  const std::vector<std::string> changes = changes_of("void f() { if (a < b) x = 1; if (a < b) x = 1; }");
  EXPECT_THAT(changes, testing::Contains("a < b -> <="));
  EXPECT_THAT(changes, testing::Contains("a < b -> <= (2)"));
}

TEST(mutants, of_a_comparison_move_its_bound_and_turn_it_round) {
  EXPECT_THAT(changes_of("bool f() { if (a < b) return c; }"),
              ElementsAre("a < b -> <=", "a < b -> >=", "return c -> + 1", "return c -> - 1"));
}

TEST(mutants, of_logic_swap_the_operator_or_drop_an_operand_without_evaluating_more) {
  EXPECT_THAT(changes_of("void f() { if (a && b) { } }"),
              ElementsAre("a && b -> ||", "a && b -> right operand alone", "a && b -> left operand alone"));
  EXPECT_THAT(
      text_of("void f() { if (a && b) { } }"),
      HasSubstr("if (((((mutant::on(1) || (a )) != mutant::on(0)) && ((mutant::on(2) || ( b)) != mutant::on(0))) "
                "!= mutant::on(0)))"));
}

TEST(mutants, of_a_plain_condition_are_its_opposite) {
  EXPECT_THAT(changes_of("void f() { if (t.last) { } }"), ElementsAre("if t.last -> not"));
  EXPECT_THAT(changes_of("void f() { if (!t.last) { } }"), ElementsAre("!t.last -> without !"));
}

TEST(mutants, of_minima_and_rounding_take_the_other) {
  EXPECT_THAT(changes_of("void f() { auto x{std::max<T>(0, n)}; }"), testing::Contains("max -> min"));
  EXPECT_THAT(text_of("void f() { auto x{std::max<T>(0, n)}; }"), HasSubstr("mutant::Max<"));
  EXPECT_THAT(changes_of("int f() { return ceil_div(a, 8); }"),
              testing::IsSupersetOf({"ceil_div -> floor", "8 -> 8 - 1"}));
}

TEST(mutants, leave_assignments_and_calls_out_but_not_declarations) {
  EXPECT_THAT(changes_of("void f() { g(); }"), ElementsAre("g(); -> left out"));
  EXPECT_THAT(changes_of("void f() { x += g(); }"), ElementsAre("x += g -> -=", "x += g(); -> left out"));
  EXPECT_THAT(changes_of("struct S { Cycles start, end; void g(const T& t) { } std::vector<T> all; };"), IsEmpty());
}

TEST(mutants, of_what_a_member_is_until_it_is_set_are_one) {
  EXPECT_THAT(changes_of("struct S { int a = 3, b = 0; };"), ElementsAre("3 -> 3 + 1", "0 -> 0 + 1"));
}

TEST(mutants, leave_alone_what_the_compiler_needs_and_say_so) {
  const Rewritten made =
      rewrite("constexpr int most = 8;\nstd::array<int, 4> all;\nvoid f() { check(a > 0, \"b\"); }", "", 0);
  EXPECT_THAT(made.mutants, IsEmpty());
  ASSERT_EQ(made.left_alone.size(), 3U);
  EXPECT_EQ(made.left_alone[0].line, "constexpr int most = 8;");
}

TEST(mutants, take_no_pointer_reference_template_or_parameter_for_arithmetic) {
  EXPECT_THAT(
      changes_of("const T* const f(const T& a, T* b) { T&& c{}; std::vector<T> d; const auto& [x, y] = a; }"),
      IsEmpty());
  EXPECT_THAT(changes_of("struct S { double (*from)(double first, double second); };"), IsEmpty());
}

TEST(mutants, of_steps_loops_and_their_bounds_exist_but_of_loop_steps_none) {
  EXPECT_THAT(changes_of("void f() { for (int i = 0; i < n; ++i) { } }"),
              ElementsAre("i < n -> <=", "i < n -> >=", "0 -> 0 + 1", "0 -> 0 - 1"));
  EXPECT_THAT(changes_of("void f() { ++n; }"), ElementsAre("++n; -> left out"));
  EXPECT_THAT(changes_of("void f() { x[n++] = y; }"), testing::Contains("n++ -> no step"));
}

TEST(mutants, leave_functions_by_default_in_a_class_and_of_macros_what_they_are_given) {
  EXPECT_THAT(changes_of("struct S { int a; S(S&&) noexcept; };\nnamespace n { void f() { }\nS::~S() = default; }"),
              IsEmpty());
  EXPECT_THAT(changes_of("void f() { SAME(cores); }"), ElementsAre("SAME(cores); -> left out"));
  EXPECT_THAT(changes_of("typedef int V __attribute__((vector_size(8 * n)));"), IsEmpty());
}

TEST(mutants, of_brackets_that_do_not_pair_are_refused) {
  EXPECT_THROW(static_cast<void>(rewrite("void f() { g(; }", "", 0)), std::runtime_error);
}

TEST(mutants, a_comparison_that_a_class_defines_opens_no_bracket) {
  EXPECT_THAT(changes_of("bool operator<(A a, A b) { return a.n < b.n; }"), testing::Contains("n < b -> <="));
}

TEST(mutants, a_reference_that_is_returned_stays_one) {
  EXPECT_THAT(changes_of("struct S { N& operator[](R r) { return all[r]; } };"), IsEmpty());
  EXPECT_THAT(changes_of("const N& S::at(R r) const { if (r > s) { return all[r]; } return none; }"),
              ElementsAre("r > s -> >=", "r > s -> <="));
  EXPECT_THAT(changes_of("void f() { g([&all](R r) { return all[r]; }); }"),
              testing::IsSupersetOf({"return all[r] -> + 1", "return all[r] -> - 1"}));
  EXPECT_THAT(changes_of("N S::at(R r) const { return all[r]; }"),
              ElementsAre("return all[r] -> + 1", "return all[r] -> - 1"));
}

}  // namespace
}  // namespace sdip::mutants
