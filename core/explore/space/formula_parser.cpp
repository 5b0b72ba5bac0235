// Formulas from text: a descent by precedence that writes the steps as it reads.
#include "core/explore/space/formula_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/nearest_names.h"

namespace sdip {
namespace {

using Step = FormulaOperation;

struct FunctionRow {
  std::string_view name;
  FormulaOperation operation;
  std::size_t least, most;  // arguments; of more than two pair after pair
};
constexpr std::size_t any_number = 1000;
constexpr FunctionRow functions[] = {{"abs", Step::absolute, 1, 1},       {"ceil", Step::ceiling, 1, 1},
                                     {"exp", Step::exponential, 1, 1},    {"floor", Step::floor, 1, 1},
                                     {"if", Step::choose, 3, 3},          {"log", Step::logarithm, 1, 1},
                                     {"log2", Step::logarithm2, 1, 1},    {"max", Step::most, 2, any_number},
                                     {"min", Step::least, 2, any_number}, {"sqrt", Step::root, 1, 1}};

struct OperatorRow {
  std::string_view sign;
  FormulaOperation operation;
};
constexpr OperatorRow comparisons[] = {{"<=", Step::less_equal}, {">=", Step::greater_equal}, {"==", Step::equal},
                                       {"!=", Step::unequal},    {"<", Step::less},           {">", Step::greater}};
constexpr OperatorRow sum_rows[] = {{"+", Step::add}, {"-", Step::subtract}};
constexpr OperatorRow products[] = {{"*", Step::multiply}, {"/", Step::divide}};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

/// A part of a formula: a number, a choice, or the name of one of its values in quotes.
struct Parsed {
  const ParameterRow* choice = nullptr;
  std::optional<std::string_view> quoted{};
  std::size_t place = 0, step = 0;  // where it stands in the text, and its first step
};

class Parser {
 public:
  Parser(Formula& formula, const std::string& where) : formula_(formula), where_(where), text_(formula.text) {}

  void parse() {
    number(comparison());
    skip_blanks();
    if (place_ < text_.size()) expected("an operator or the end");
    std::size_t height = 0;
    for (const FormulaStep& step : formula_.steps) {
      const FormulaOperation o = step.operation;
      height = o < Step::negate ? height + 1 : o < Step::add ? height : o < Step::choose ? height - 1 : height - 2;
      formula_.depth = std::max(formula_.depth, height);
    }
  }

 private:
  [[noreturn]] void refuse(std::size_t place, const std::string& what) const {
    throw Error("formula_invalid", where_, fmt::format("{}, column {}: {}", formula_.name, place + 1, what));
  }
  [[noreturn]] void expected(const std::string& what) const {
    const std::string found =
        place_ < text_.size() ? fmt::format("'{}'", text_.substr(place_, 1)) : std::string("the end");
    refuse(place_, "expected " + what + ", found " + found);
  }

  void skip_blanks() {
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\t')) ++place_;
  }
  bool skip(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(place_).starts_with(sign)) return false;
    place_ += sign.size();
    return true;
  }
  void require(std::string_view sign, const std::string& what) {
    if (!skip(sign)) expected(what);
  }
  template <class Rows>
  const OperatorRow* one_of(const Rows& rows) {
    for (const OperatorRow& row : rows)
      if (skip(row.sign)) return &row;
    return nullptr;
  }

  void put(FormulaOperation operation) { formula_.steps.push_back({.operation = operation}); }
  void put_number(double value) { formula_.steps.push_back({.operation = Step::constant, .number = value}); }
  void put_input(const FormulaInput& input) {
    const auto known = std::ranges::find(formula_.inputs, input);
    formula_.steps.push_back({.operation = Step::load, .input = as_size(known - formula_.inputs.begin())});
    if (known == formula_.inputs.end()) formula_.inputs.push_back(input);
  }

  /// Refuses what can only be compared.
  void number(const Parsed& part) const {
    if (part.quoted) refuse(part.place, "a text is compared, by == or !=, with a parameter that is a choice");
    if (part.choice != nullptr)
      refuse(part.place,
             fmt::format("{} is a choice: compare it by == or != with one of its names in quotes, as {} == \"{}\"",
                         part.choice->name, part.choice->name, part.choice->choices[0]));
  }

  /// Each level of nesting is some levels of this program's own stack.
  struct Nested {
    explicit Nested(Parser& parser) : depth(parser.depth_) {
      if (++depth > deepest_formula)
        throw Error("limit_exceeded", parser.where_,
                    fmt::format("{}: nested more than {} deep", parser.formula_.name, deepest_formula));
    }
    ~Nested() { --depth; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    std::size_t& depth;
  };

  Parsed comparison() {
    const Nested nested(*this);
    const Parsed left = sum();
    const OperatorRow* row = one_of(comparisons);
    if (row == nullptr) return left;
    const Parsed right = sum();
    compare(left, row->operation, right);
    put(row->operation);
    const std::size_t end = place_;
    if (one_of(comparisons) != nullptr) refuse(end, "expected one comparison: put the first into parentheses");
    return {.place = left.place, .step = left.step};
  }

  /// A choice stands for the place of its value, and so does the name that it is compared with.
  void compare(const Parsed& left, FormulaOperation operation, const Parsed& right) {
    const bool named = left.choice != nullptr ? right.quoted.has_value() : left.quoted && right.choice != nullptr;
    if (!named || (operation != Step::equal && operation != Step::unequal)) return number(left), number(right);
    const ParameterRow& row = left.choice != nullptr ? *left.choice : *right.choice;
    const Parsed& name = left.choice != nullptr ? right : left;
    const auto found = std::ranges::find(row.choices, *name.quoted);
    if (found == row.choices.end()) {
      std::string names;
      for (const std::string_view one : row.choices) names += " " + std::string(one);
      refuse(name.place, fmt::format("expected a value of {}:{}", row.name, names));
    }
    formula_.steps[name.step].number = static_cast<double>(found - row.choices.begin());
  }

  template <class Rows, class Next>
  Parsed joined(const Rows& rows, Next next) {
    const Parsed first = next();
    for (const OperatorRow* row = one_of(rows); row != nullptr; row = one_of(rows)) {
      number(first);
      number(next());
      put(row->operation);
    }
    return first;
  }
  Parsed sum() {
    return joined(sum_rows, [&] { return product(); });
  }
  Parsed product() {
    return joined(products, [&] { return signed_power(); });
  }

  Parsed signed_power() {
    const Nested nested(*this);
    skip_blanks();
    const Parsed start{.place = place_, .step = formula_.steps.size()};
    if (!skip("-")) return power();
    number(signed_power());
    put(Step::negate);
    return start;
  }

  Parsed power() {
    const Nested nested(*this);
    const Parsed base = value();
    if (!skip("^")) return base;
    number(base);
    if (skip("-")) {
      number(power());
      put(Step::negate);
    } else {
      number(power());
    }
    put(Step::power);
    return base;
  }

  Parsed value() {
    skip_blanks();
    const Parsed start{.place = place_, .step = formula_.steps.size()};
    if (skip("(")) {
      number(comparison());
      require(")", "an operator or )");
      return start;
    }
    if (place_ == text_.size()) expected("a number, a name or (");
    const char c = text_[place_];
    if (digit(c) || c == '.') return literal(start);
    if (c == '"') return quoted(start);
    if (letter(c)) return name(start);
    expected("a number, a name or (");
  }

  Parsed literal(const Parsed& start) {
    double value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [after, problem] = std::from_chars(text_.data() + place_, end, value);
    if (problem == std::errc::result_out_of_range) refuse(place_, "a number that 64 bits do not hold");
    if (problem != std::errc()) expected("a number");
    place_ = as_size(after - text_.data());
    if (place_ < text_.size() && (letter(text_[place_]) || digit(text_[place_]) || text_[place_] == '.'))
      expected("an operator behind a number");
    put_number(value);
    return start;
  }

  Parsed quoted(Parsed start) {
    const std::size_t end = text_.find('"', place_ + 1);
    if (end == std::string_view::npos) refuse(place_, "expected a quote that ends this text");
    start.quoted = text_.substr(place_ + 1, end - place_ - 1);
    place_ = end + 1;
    put_number(0);
    return start;
  }

  Parsed name(Parsed start) {
    std::size_t end = place_;
    while (end < text_.size() && (letter(text_[end]) || digit(text_[end]) || text_[end] == '.')) ++end;
    const std::string_view word = text_.substr(place_, end - place_);
    place_ = end;
    if (skip("(")) return call(word, start);
    if (const MetricRow* row = find_metric(word)) {
      put_input({.metric = static_cast<Metric>(row - metrics().data())});
      return start;
    }
    const ParameterRow* row = find_setting(word);
    if (row == nullptr) unknown(word, start.place);
    put_input({.parameter = row});
    if (row->type == ParameterType::choice) start.choice = row;
    return start;
  }

  [[noreturn]] void unknown(std::string_view word, std::size_t place) const {
    if (word == "sqnr_db")
      refuse(
          place,
          "no metric and no parameter sqnr_db, which is measured; `sdip best` and POST /searches take the least of "
          "it as --sqnr-db and sqnr_db, or as an objective");
    std::vector<std::string_view> names;
    for (const MetricRow& row : metrics()) names.push_back(row.name);
    for (const ParameterRow& row : parameters()) names.push_back(row.name);
    const std::string hint = nearest_names(word, names);
    refuse(place, fmt::format("no metric and no parameter {}{}", word.substr(0, 80),
                              hint.empty() ? "; `sdip metrics` and `sdip parameters` list them" : "; " + hint));
  }

  Parsed call(std::string_view word, const Parsed& start) {
    const auto row = std::ranges::find(functions, word, &FunctionRow::name);
    if (row == std::end(functions)) {
      std::string names;
      for (const FunctionRow& one : functions) names += " " + std::string(one.name);
      refuse(start.place, fmt::format("no function {}; expected one of{}", word.substr(0, 80), names));
    }
    std::size_t arguments = 0;
    do {
      number(comparison());
      if (++arguments > row->most) break;
      if (arguments > 1 && row->most == any_number) put(row->operation);
    } while (skip(","));
    if (arguments < row->least || arguments > row->most)
      refuse(start.place,
             fmt::format("{}: expected {}{}{}", row->name, row->least, row->most > row->least ? " or more" : "",
                         row->least == 1 ? " argument" : " arguments"));
    require(")", "an operator, a comma or )");
    if (row->most != any_number) put(row->operation);
    return start;
  }

  Formula& formula_;
  const std::string& where_;
  std::string_view text_;
  std::size_t place_ = 0, depth_ = 0;
};

}  // namespace

bool names_function(std::string_view name) {
  return std::ranges::find(functions, name, &FunctionRow::name) != std::end(functions);
}

void parse_steps(Formula& formula, const std::string& where) { Parser(formula, where).parse(); }

}  // namespace sdip
