// What a rewritten source asks: is this mutant the one that is chosen? Each operator is an object between its own
// operands, `a + Plus<3>{} + b`, so that no precedence changes; `Plus<3>` is `+`, or what mutant 3 has instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace mutant {

inline constexpr int most_mutants = 1 << 15;
extern volatile int chosen;                  // -1: none
extern unsigned char reached[most_mutants];  // asked for since it was cleared
extern bool exists[most_mutants];            // the types have it

constexpr bool on(int number) {
  if (std::is_constant_evaluated()) return false;
  reached[number] = 1;
  return chosen == number;
}

template <int number>
struct Exists {
  static bool tell() { return exists[number] = true; }
  static inline const bool told = tell();
};
template <int number>
constexpr void there() {
  if (!std::is_constant_evaluated()) static_cast<void>(&Exists<number>::told);
}

__extension__ typedef __int128 Wide;
template <class T>
inline constexpr bool counts = (std::is_integral_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, Wide>;

/// Dividing by nothing is seen, and does not end the process.
template <class B>
constexpr void check_divisor([[maybe_unused]] const B& b) {
  if constexpr (std::is_integral_v<B> || counts<B>)
    if (b == 0) throw std::domain_error("a mutant divides by 0");
}

template <class A, int number>
struct Left {
  A&& a;
};

// An operator `op` of type `Name`, which holds its left operand until the right one comes.
#define MUTANT_LEFT(Name, op)                       \
  template <int number>                             \
  struct Name {};                                   \
  template <class A, int number>                    \
  constexpr auto operator op(A&& a, Name<number>) { \
    return Left<A, number>{static_cast<A&&>(a)};    \
  }

// `other`: what its first mutant does.
#define MUTANT_OPERATOR(Name, op, other)                                                   \
  MUTANT_LEFT(Name, op)                                                                    \
  template <int number, class A, class B>                                                  \
  constexpr auto evaluate(Name<number>, A& a, B& b) {                                      \
    if constexpr (requires { a other b; }) {                                               \
      if constexpr (std::is_convertible_v<decltype(a other b), decltype(a op b)>) {        \
        there<number>();                                                                   \
        if (on(number)) {                                                                  \
          if constexpr (#other[0] == '/') check_divisor(b);                                \
          return static_cast<decltype(a op b)>(a other b);                                 \
        }                                                                                  \
      }                                                                                    \
    }                                                                                      \
    return a op b;                                                                         \
  }                                                                                        \
  template <class A, int number, class B>                                                  \
  constexpr auto operator op(Left<A, number> left, B&& b) {                                \
    return evaluate(Name<number>{}, left.a, b);                                            \
  }                                                                                        \
  template <class A, int number, class B> /* else std's own, of an optional and a value */ \
  constexpr auto operator op(Left<A, number> left, const std::optional<B>& b) {            \
    return evaluate(Name<number>{}, left.a, b);                                            \
  }
MUTANT_OPERATOR(Plus, +, -)
MUTANT_OPERATOR(Minus, -, +)
MUTANT_OPERATOR(Times, *, /)
MUTANT_OPERATOR(Rest, %, /)
MUTANT_OPERATOR(Same, ==, !=)
MUTANT_OPERATOR(Other, !=, ==)
#undef MUTANT_OPERATOR

// A comparison, of vectors place by place; its second mutant is its opposite.
#define MUTANT_COMPARISON(Name, op, other, opposite)        \
  MUTANT_LEFT(Name, op)                                     \
  template <class A, int number, class B>                   \
  constexpr auto operator op(Left<A, number> left, B&& b) { \
    if constexpr (requires { left.a other b; }) {           \
      there<number>();                                      \
      if (on(number)) return left.a other b;                \
    }                                                       \
    if constexpr (requires { left.a opposite b; }) {        \
      there<number + 1>();                                  \
      if (on(number + 1)) return left.a opposite b;         \
    }                                                       \
    return left.a op b;                                     \
  }
MUTANT_COMPARISON(Less, <, <=, >=)
MUTANT_COMPARISON(Most, <=, <, >)
MUTANT_COMPARISON(More, >, >=, <=)
MUTANT_COMPARISON(Least, >=, >, <)
#undef MUTANT_COMPARISON

MUTANT_LEFT(Over, /)
#undef MUTANT_LEFT
template <class A, int number, class B>
constexpr auto operator/(Left<A, number> left, B&& b) {
  using Result = decltype(left.a / b);
  if constexpr (requires { left.a* b; }) {
    there<number>();
    if (on(number)) return static_cast<Result>(left.a * b);
  }
  check_divisor(b);
  if constexpr (counts<Result>) {
    there<number + 1>();
    if (on(number + 1)) return static_cast<Result>(left.a / b + (left.a % b != 0));
  }
  return left.a / b;
}

template <class E, int number>
struct Amount {
  E&& e;
};

// x += Adds<3>{} += e: the right operand first.
#define MUTANT_ASSIGNMENT(Name, op, other)                   \
  template <int number>                                      \
  struct Name {                                              \
    template <class E>                                       \
    constexpr auto operator op(E&& e) const {                \
      return Amount<E, number>{static_cast<E&&>(e)};         \
    }                                                        \
  };                                                         \
  template <class X, class E, int number>                    \
  constexpr X& operator op(X& x, Amount<E, number> amount) { \
    if constexpr (requires { x other amount.e; }) {          \
      there<number>();                                       \
      if (on(number)) return x other amount.e, x;            \
    }                                                        \
    return x op amount.e, x;                                 \
  }
MUTANT_ASSIGNMENT(Adds, +=, -=)
MUTANT_ASSIGNMENT(Takes, -=, +=)
MUTANT_ASSIGNMENT(Scales, *=, /=)
MUTANT_ASSIGNMENT(Joins, |=, &=)
#undef MUTANT_ASSIGNMENT

template <int n, class T>
constexpr T number(T value) {
  if (on(n)) return static_cast<T>(value + 1);
  return on(n + 1) ? static_cast<T>(value - 1) : value;
}
template <int n, class T>
constexpr T more(T value) {
  return on(n) ? static_cast<T>(value + 1) : value;
}
template <int n>
constexpr bool negated(bool value) {
  return on(n) != value;
}
template <int n, int by, class T>
constexpr T step(T& x) {
  const T before = x;
  if (!on(n)) x = static_cast<T>(x + static_cast<T>(by));
  return before;
}

/// Integers one off; with `negates` a bool's opposite; all else as it is.
template <int n, bool negates, class T>
constexpr decltype(auto) off(T&& x) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (counts<Value>) {
    there<n>();
    there<n + 1>();
    return static_cast<Value>(on(n) ? x + 1 : on(n + 1) ? x - 1 : x);
  } else if constexpr (negates && std::is_same_v<Value, bool> && !std::is_lvalue_reference_v<T>) {
    there<n>();
    return on(n) != x;
  } else {
    return static_cast<T&&>(x);
  }
}
/// What cannot be copied, returned: moved, as `return` of its name would, or the reference that the function
/// returns.
template <class T>
struct Moved {
  T& x;
  constexpr operator T&&() { return static_cast<T&&>(x); }
  constexpr operator T&() const { return x; }
};
/// As `off`, of a name that is returned.
template <int n, bool negates, class T>
constexpr decltype(auto) returned(T& x) {
  if constexpr (!std::is_const_v<T> && !std::is_copy_constructible_v<T>)
    return Moved<T>{x};
  else
    return off<n, negates>(x);
}

template <int n>
struct Ceil {
  static constexpr std::int64_t of(std::int64_t a, std::int64_t b) {
    check_divisor(b);
    if (on(n)) return a / b;
    return on(n + 1) ? a / b + 1 : a / b + (a % b != 0);
  }
};

template <int n>
struct Max {
  template <class T>
  static constexpr T of(const T& a, const T& b) {
    return on(n) ? std::min(a, b) : std::max(a, b);
  }
  template <class T>
  static constexpr T of(std::initializer_list<T> all) {
    return on(n) ? std::min(all) : std::max(all);
  }
};
template <int n>
struct Min {
  template <class T>
  static constexpr T of(const T& a, const T& b) {
    return on(n) ? std::max(a, b) : std::min(a, b);
  }
};
template <int n>
struct Clamp {
  template <class T>
  static constexpr T of(const T& value, const T& low, const T& high) {
    if (on(n)) return std::min(value, high);
    return on(n + 1) ? std::max(value, low) : std::max(low, std::min(value, high));
  }
};
template <int n>
struct MaxElement {
  static constexpr auto of(const auto& all) { return of(std::begin(all), std::end(all)); }
  static constexpr auto of(auto begin, auto end) {
    return on(n) ? std::min_element(begin, end) : std::max_element(begin, end);
  }
  static constexpr auto of(const auto& all, std::ranges::less, auto projection) {
    return on(n) ? std::ranges::min_element(all, {}, projection) : std::ranges::max_element(all, {}, projection);
  }
};

}  // namespace mutant
