// Suggestions for a name that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sdip {

/// "did you mean a, b?": the names nearest to `name`; "" when none is near.
std::string nearest_names(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace sdip
