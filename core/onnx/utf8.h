// Whether bytes are valid UTF-8. Internal to its room.
#pragma once

#include <string_view>

namespace sdip {

/// As RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace sdip
