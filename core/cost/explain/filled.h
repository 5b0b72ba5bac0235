// Formulas with their numbers filled in: text that a reader can type into a calculator, and what it comes to.
// Internal to its room.
//
// Worked example. number(16) x ceiling(number(4096), 16) + number(3) reads "16 x ceil(4096/16) + 3" and is 4099.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace sdip {

/// Whole numbers, `+`, `-`, `x`, `ceil(a/b)` and `max(a, b)`; a product binds closer than a sum. Text and value are
/// made in the same steps. A factor of 1 and a term of 0 are left out.
class Filled {
 public:
  Filled() = default;
  /// A count that is given, not worked out.
  explicit Filled(std::int64_t number) : text_(std::to_string(number)), value_(number) {}

  const std::string& text() const { return text_; }
  std::int64_t value() const { return value_; }
  bool is_zero() const { return value_ == 0; }

  friend Filled operator+(const Filled& a, const Filled& b);
  friend Filled operator-(const Filled& a, const Filled& b);
  friend Filled operator*(const Filled& a, const Filled& b);
  friend bool operator<(const Filled& a, const Filled& b) { return a.value_ < b.value_; }
  Filled& operator+=(const Filled& other) { return *this = *this + other; }

  /// The smallest whole number not below a / b; a itself where b is 1.
  friend Filled ceiling(const Filled& a, std::int64_t b);
  /// The smallest whole number not below a q / p, as "ceil(a x q/p)".
  friend Filled ceiling(const Filled& a, std::int64_t q, std::int64_t p);
  /// The largest of what is not below 0; one alone stands as it is, and what is 0 is left out.
  friend Filled largest(std::span<const Filled> of);

 private:
  enum class Form { atom, product, sum };
  Filled(std::string text, std::int64_t value, Form form) : text_(std::move(text)), value_(value), form_(form) {}
  std::string as_factor() const { return form_ == Form::sum ? "(" + text_ + ")" : text_; }

  std::string text_ = "0";
  std::int64_t value_ = 0;
  Form form_ = Form::atom;
};

inline Filled number(std::int64_t value) { return Filled(value); }
Filled ceiling(const Filled& a, std::int64_t b);
Filled ceiling(const Filled& a, std::int64_t q, std::int64_t p);
Filled largest(std::span<const Filled> of);
inline Filled largest(std::initializer_list<Filled> of) { return largest(std::span(of.begin(), of.size())); }
Filled product_of(std::initializer_list<std::int64_t> factors);

// As for whole numbers (core/cost/work/ports.h); what is beyond every stage is not cut.
inline Filled capped_sum(const Filled& a, const Filled& b, std::int64_t) { return a + b; }
inline Filled capped_product(const Filled& a, const Filled& b, std::int64_t) { return a * b; }
inline Filled capped_hundredths(const Filled& a, std::int64_t hundredths, std::int64_t) {
  return hundredths % 100 == 0 ? a * Filled(hundredths / 100) : ceiling(a, hundredths, 100);
}

}  // namespace sdip
