// The one error type: input that cannot be used. Thrown in core and db, caught by the HTTP layer and by main.
#pragma once

#include <fmt/core.h>  // what messages are made with
#include <stdexcept>
#include <string>

namespace sdip {

/// `code` is stable and documented in docs/api.md; `where` is a JSON pointer, a node name, or file:line; `what()`
/// says what was found and what was expected.
class Error : public std::runtime_error {
 public:
  Error(std::string error_code, std::string error_where, const std::string& message)
      : std::runtime_error(message), code(std::move(error_code)), where(std::move(error_where)) {}

  std::string code;
  std::string where;
};

/// A bug of our own: cannot be reached by input. Always on.
class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void check(bool holds, const char* what) {
  if (!holds) throw Bug(what);
}

}  // namespace sdip
