// The findings of a job, as text: from a child, and into the store. Internal to its room.
#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace sdip {

/// Both JSON: what lists say of it, and all of it.
struct FoundText {
  std::string summary{}, result{};
};

/// The answer of a child, a line each; and what it was. Throws no_valid_answer(model) unless both are JSON objects
/// of a bounded size.
std::string answer_of(const FoundText& found);
FoundText found_in_answer(std::string_view answer, const std::string& model);

/// Error evaluation_failed: a child, which is not believed, said something else than such children say.
Error no_valid_answer(const std::string& model);

}  // namespace sdip
