// Attributes of a node.
#include "core/graph/attributes.h"

namespace sdip {

bool is_set(const Node& node, std::string_view attribute) {
  const auto found = node.attributes.find(attribute);
  const auto* number = found == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return number != nullptr && *number != 0;
}

}  // namespace sdip
