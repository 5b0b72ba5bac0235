// Values: constants, minima and maxima, rounding, one more and one less of what is passed, kept and returned.
#include "tests/mutants/sites.h"

namespace sdip::mutants {
namespace {

/// A number that a struct's member has until it is set.
bool is_default(const Reading& r, std::size_t i) {
  const std::size_t open = r[i].inside;
  return open != nowhere && open >= 2 && r.is(open, "{") && r.any_of(open - 2, {"struct", "class"}) &&
         r.is(i - 1, "=") && r.any_of(i + 1, {";", ","});
}

void add_constant(const Reading& r, std::size_t i, Sites& sites) {
  const std::string text(r[i].text);
  if (r.any_of(i, {"true", "false"})) {
    const int number = sites.add(i, text + " -> " + (text == "true" ? "false" : "true"), false);
    sites.replace({i, i + 1}, "mutant::negated<" + std::to_string(number) + ">(" + text + ")");
    return;
  }
  if (r[i].kind != Kind::number || (r.is(i - 1, "=") && r.is(i + 1, ";") && r.is(i - 2, ")"))) return;
  const int number = sites.add(i, text + " -> " + text + " + 1", false);
  if (is_default(r, i)) {  // what is mostly overwritten: one is enough
    sites.replace({i, i + 1}, "mutant::more<" + std::to_string(number) + ">(" + text + ")");
    return;
  }
  sites.add(i, text + " -> " + text + " - 1", false);
  sites.replace({i, i + 1}, "mutant::number<" + std::to_string(number) + ">(" + text + ")");
}

void add_function(const Reading& r, std::size_t i, Sites& sites) {
  const auto instead = [&](std::size_t first, std::string_view type,
                           std::initializer_list<std::string_view> others) {
    int number = -1;
    for (const std::string_view other : others) {
      const int added = sites.add(i, std::string(r[i].text) + " -> " + std::string(other), false);
      if (number < 0) number = added;
    }
    sites.replace({first, i + 1}, "mutant::" + std::string(type) + "<" + std::to_string(number) + ">::of");
  };
  if (r.is(i, "ceil_div") && r.is(i + 1, "(")) return instead(i, "Ceil", {"floor", "floor + 1"});
  if (!r.is(i - 1, "::") || !r.any_of(i, {"max", "min", "clamp", "max_element"})) return;
  const std::size_t first = r.is(i - 2, "ranges") ? i - 4 : i - 2;
  if (r.is(i, "max")) return instead(first, "Max", {"min"});
  if (r.is(i, "min")) return instead(first, "Min", {"max"});
  if (r.is(i, "clamp")) return instead(first, "Clamp", {"not below", "not above"});
  return instead(first, "MaxElement", {"min_element"});
}

/// One more and one less of an integer, the opposite of a bool that no operator decides.
void add_off(const Reading& r, Range range, std::string_view what, Sites& sites) {
  if (range.empty() || r.plain(range) || r.declares(range) || r.left_alone(range.first)) return;
  const std::string text = std::string(what) + " " + r.text_of(range);
  const int number = sites.add(range.first, text + " -> + 1", true);
  sites.add(range.first, text + " -> - 1", true);
  const bool name = what == "return" && range.last == range.first + 1;
  sites.wrap(range,
             std::string("mutant::") + (name ? "returned" : "off") + "<" + std::to_string(number) + ", " +
                 (r.decides(range) ? "false" : "true") + ">(",
             ")");
}

/// True where the name before `=` at `i` is declared a reference, or a default argument.
bool binds(const Reading& r, std::size_t i) {
  if (i < 2 || r.is(i - 1, "]")) {
    const std::size_t open = r[i - 1].mate;
    return i < 2 || r[open].space_before;
  }
  if (r.any_of(i - 2, {"&", "&&", "*"}) && !r[i - 2].spaced) return true;
  const std::size_t inside = r[i].inside;
  return inside != nowhere && r.is(inside, "(") && !r.is(inside - 1, "for");
}

void add_initial(const Reading& r, std::size_t i, Sites& sites) {
  if (!r.is(i, "=") || !r.infix(i) || r.is(i + 1, "default") || r.is(i + 1, "delete") || binds(r, i)) return;
  add_off(r, r.expression(i + 1), "=", sites);
}

}  // namespace

void add_values(const Reading& reading, Sites& sites) {
  for (std::size_t i = 2; i + 1 < reading.size(); ++i) {
    if (reading.left_alone(i)) continue;
    add_constant(reading, i, sites);
    add_function(reading, i, sites);
    add_initial(reading, i, sites);
    if (reading.is(i, "return") && !reading.returns_reference(i))
      add_off(reading, reading.expression(i + 1), "return", sites);
    if (reading.is_call(i))
      for (const Range& part : reading.parts(i))
        add_off(reading, part, std::string(reading[i - 1].text) + "( )", sites);
    if (reading.is_list(i))
      for (const Range& part : reading.parts(i)) add_off(reading, part, "{ }", sites);
  }
}

}  // namespace sdip::mutants
