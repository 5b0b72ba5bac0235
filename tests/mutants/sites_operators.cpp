// Operators: arithmetic, comparisons, logic, conditions, assignments that change, steps.
#include "tests/mutants/sites.h"

namespace sdip::mutants {
namespace {

struct Infix {
  std::string_view text, type;
  std::vector<std::string_view> instead;
};
const std::vector<Infix>& infixes() {
  static const std::vector<Infix> all = {
      {"+", "Plus", {"-"}},         {"-", "Minus", {"+"}},       {"*", "Times", {"/"}},
      {"/", "Over", {"*", "ceil"}}, {"%", "Rest", {"/"}},        {"<", "Less", {"<=", ">="}},
      {"<=", "Most", {"<", ">"}},   {">", "More", {">=", "<="}}, {">=", "Least", {">", "<"}},
      {"==", "Same", {"!="}},       {"!=", "Other", {"=="}},     {"+=", "Adds", {"-="}},
      {"-=", "Takes", {"+="}},      {"*=", "Scales", {"/="}},    {"|=", "Joins", {"&="}},
  };
  return all;
}

std::string around(const Reading& r, std::size_t i, std::string_view text) {
  return std::string(r[i - 1].text) + " " + std::string(text) + " " + std::string(r[i + 1].text);
}

void add_infix(const Reading& r, std::size_t i, Sites& sites) {
  if (!r.infix(i)) return;
  for (const Infix& infix : infixes()) {
    if (infix.text != r[i].text) continue;
    int first = -1;
    for (const std::string_view other : infix.instead) {
      const int number = sites.add(i, around(r, i, infix.text) + " -> " + std::string(other), true);
      if (first < 0) first = number;
    }
    const std::string text(infix.text);
    sites.replace({i, i + 1},
                  text + " mutant::" + std::string(infix.type) + "<" + std::to_string(first) + ">{} " + text);
  }
}

/// Both operators as one: a && b is (a != f && b != f) != f, which f turns into a || b.
void add_logic(const Reading& r, std::size_t i, Sites& sites) {
  if (!r.infix(i) || !r.any_of(i, {"&&", "||"})) return;
  const bool conjunction = r.is(i, "&&");
  const Range left = r.left_operand(i), right = r.right_operand(i);
  const std::string text(r[i].text);
  const int flip = sites.add(i, around(r, i, text) + (conjunction ? " -> ||" : " -> &&"), false);
  sites.add(i, around(r, i, text) + " -> right operand alone", false);
  sites.add(i, around(r, i, text) + " -> left operand alone", false);
  const auto on = [&](int more) { return "mutant::on(" + std::to_string(flip + more) + ")"; };
  const auto drop = [&](int more) { return conjunction ? "(" + on(more) + " || (" : "(!" + on(more) + " && ("; };
  sites.wrap({left.first, right.last}, "(((" + drop(1), ")) != " + on(0) + ")) != " + on(0) + ")");
  sites.replace({i, i + 1}, ")) != " + on(0) + ") " + text + " (" + drop(2));
}

void add_negation(const Reading& r, std::size_t i, Sites& sites) {
  if (!r.is(i, "!") || r.is(i - 1, "operator")) return;
  const Range operand = r.prefix_operand(i);
  const int number = sites.add(i, r.text_of({i, operand.last}) + " -> without !", false);
  sites.wrap({i, operand.last}, "(mutant::on(" + std::to_string(number) + ") != ", ")");
}

void negate(const Reading& r, Range range, std::string_view what, Sites& sites) {
  if (range.empty() || r.decides(range) || r.plain(range)) return;
  const int number = sites.add(range.first, std::string(what) + " " + r.text_of(range) + " -> not", false);
  sites.wrap(range, "(mutant::on(" + std::to_string(number) + ") != static_cast<bool>(", "))");
}

void add_condition(const Reading& r, std::size_t i, Sites& sites) {
  if (r.any_of(i, {"if", "while"}) && r.is(i + 1, "(")) {
    const Range condition{i + 2, r[i + 1].mate};
    for (std::size_t j = condition.first; j < condition.last; ++j)
      if (r.is(j, ";")) return;
    negate(r, condition, r[i].text, sites);
  }
  if (r.is(i, "?")) negate(r, r.left_operand(i), "?", sites);
}

/// x++ where its value is used.
void add_step(const Reading& r, std::size_t i, Sites& sites) {
  if (!r.any_of(i, {"++", "--"}) || i == 0 || !r.word(i - 1) || r[i].space_before) return;
  const int number = sites.add(i, r.text_of({i - 1, i + 1}) + " -> no step", false);
  sites.replace({i - 1, i + 1}, "mutant::step<" + std::to_string(number) + ", " + (r.is(i, "++") ? "1" : "-1") +
                                    ">(" + std::string(r[i - 1].text) + ")");
}

}  // namespace

void add_operators(const Reading& reading, Sites& sites) {
  for (std::size_t i = 1; i + 1 < reading.size(); ++i) {
    if (reading.left_alone(i)) continue;
    add_infix(reading, i, sites);
    add_logic(reading, i, sites);
    add_negation(reading, i, sites);
    add_condition(reading, i, sites);
    add_step(reading, i, sites);
  }
}

}  // namespace sdip::mutants
