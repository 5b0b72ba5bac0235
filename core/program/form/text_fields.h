// The fields of core/program/form/fields.h as `key=value`. Internal to its library.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/program/form/fields.h"
#include "core/program/form/scan.h"

namespace sdip {

/// A value as the text form names it: %N, or - for none.
inline std::string value_label(ValueId id) { return id == none ? "-" : "%" + std::to_string(id); }

/// Appends " key=value" for each field that is not left out.
struct TextOut {
  static constexpr bool is_text = true;
  std::string& out;

  void field(std::string_view name, const std::string& value) {
    out += " ";
    out += name;
    out += "=" + value;
  }
  bool has(std::string_view, bool differs) const { return differs; }
  void number(std::string_view name, int, std::int64_t& x, std::int64_t standard, std::int64_t plain) {
    if (x != standard || x != plain) field(name, std::to_string(x));
  }
  template <std::size_t N>
  void numbers(std::string_view name, int, std::array<std::int64_t*, N> x, std::array<std::int64_t, N> standard,
               std::int64_t plain, char separator) {
    bool left_out = true;
    std::string text;
    for (std::size_t i = 0; i < N; ++i) {
      left_out = left_out && *x[i] == standard[i] && *x[i] == plain;
      text += (i == 0 ? "" : std::string(1, separator)) + std::to_string(*x[i]);
    }
    if (!left_out) field(name, text);
  }
  template <class E, class Text>
  void choice(std::string_view name, int, E& x, E standard, int, Text text) {
    if (x != standard) field(name, std::string(text(x)));
  }
  void flag(std::string_view name, bool x) {
    if (x) field(name, "1");
  }
  void formats(std::string_view name, const std::optional<Formats>& x, const std::optional<Formats>& standard);
  void order(int, LoopOrder& x, const LoopOrder& standard) {
    if (x != standard) field("order", order_text(x));
  }
  void fetches(std::string_view name, int, std::vector<Fetch>& x, const std::vector<Fetch>& standard);
  void parts(std::string_view name, std::vector<Part>& x);
};

/// Takes fields by name. Throws as Scanner does.
struct TextIn {
  static constexpr bool is_text = true;
  std::size_t line;
  std::map<std::string_view, std::string_view> given;
  std::vector<std::string_view> given_parts;

  /// Reads "key=value key=value ..." up to the end of the line.
  static TextIn read(Scanner& in);
  /// The value of a field, or nothing; each is taken once.
  std::optional<Scanner> take(std::string_view name);
  /// Throws when a field is left that nobody took.
  void finish() const;

  bool has(std::string_view, bool) const { return true; }
  void number(std::string_view name, int, std::int64_t& x, std::int64_t standard, std::int64_t) {
    x = standard;
    auto in = take(name);
    if (!in) return;
    x = in->number(name);
    end(*in);
  }
  template <std::size_t N>
  void numbers(std::string_view name, int, std::array<std::int64_t*, N> x, std::array<std::int64_t, N> standard,
               std::int64_t, char separator) {
    auto in = take(name);
    for (std::size_t i = 0; i < N; ++i) {
      *x[i] = standard[i];
      if (!in) continue;
      if (i > 0) in->expect(std::string_view(&separator, 1));
      *x[i] = in->number(name);
    }
    if (in) end(*in);
  }
  template <class E, class Text>
  void choice(std::string_view name, int, E& x, E standard, int count, Text text) {
    x = standard;
    auto in = take(name);
    if (!in) return;
    x = one_of<E>(*in, name, count, text);
    end(*in);
  }
  void flag(std::string_view name, bool& x);
  void formats(std::string_view name, std::optional<Formats>& x, const std::optional<Formats>& standard);
  void order(int, LoopOrder& x, const LoopOrder& standard);
  void fetches(std::string_view name, int, std::vector<Fetch>& x, const std::vector<Fetch>& standard);
  void parts(std::string_view name, std::vector<Part>& x);

  template <class E, class Text>
  static E one_of(Scanner& in, std::string_view name, int count, Text text) {
    const Scanner before = in;
    const std::string_view word = in.word(name);
    std::string all;
    for (int i = 0; i < count; ++i) {
      if (text(static_cast<E>(i)) == word) return static_cast<E>(i);
      all += (i == 0 ? "" : ", ") + std::string(text(static_cast<E>(i)));
    }
    before.refuse(std::string(name) + ", one of " + all);
  }
  static void end(const Scanner& in) {
    if (!in.at_end()) in.refuse("the end of the field");
  }
};

/// Hundredths of a density, as density_text has it.
std::int64_t read_density(Scanner& in);

}  // namespace sdip
