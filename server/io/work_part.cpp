// Parts of a work as text.
#include "server/io/work_part.h"

#include <charconv>

#include "core/base/error.h"

namespace sdip {
namespace {

std::int64_t positive(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

WorkPart work_part(const std::string& text, const std::string& where) {
  const auto slash = text.find('/');
  if (slash != std::string::npos) {
    const std::string_view whole(text);
    const WorkPart part{positive(whole.substr(0, slash)), positive(whole.substr(slash + 1))};
    if (part.part >= 1 && part.part <= part.parts && part.parts <= most_parts) return part;
  }
  throw Error("value_invalid", where,
              text.substr(0, 80) + ": expected K/N, the K-th of N parts, with K from 1 to N, as 2/8");
}

std::string work_part_text(const WorkPart& part) { return fmt::format("{}/{}", part.part, part.parts); }

}  // namespace sdip
