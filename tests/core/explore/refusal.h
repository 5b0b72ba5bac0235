// What a call throws, as text that a test can compare.
#pragma once

#include <string>

#include "core/base/error.h"

namespace sdip {

/// "code at where", or "accepted".
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code + " at " + error.where;
  }
  return "accepted";
}

}  // namespace sdip
