// Parts of a work as text.
#include "server/io/work_part.h"

#include "core/base/error.h"
#include "core/base/words.h"

namespace sdip {
WorkPart work_part(const std::string& text, const std::string& where) {
  const auto words = split(text, '/');
  if (words.size() == 2) {
    const WorkPart part{whole_number(words[0]).value_or(0), whole_number(words[1]).value_or(0)};
    if (part.part >= 1 && part.part <= part.parts && part.parts <= most_parts) return part;
  }
  throw Error("value_invalid", where,
              text.substr(0, 80) + ": expected K/N, the K-th of N parts, with K from 1 to N, as 2/8");
}

std::string work_part_text(const WorkPart& part) { return fmt::format("{}/{}", part.part, part.parts); }

}  // namespace sdip
