// Attributes of a node, as passes and circuits ask for them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "core/graph/graph.h"

namespace sdip {

/// The value of an attribute, or `otherwise` where there is none of that name and type.
template <class T>
T attribute_or(const Node& node, std::string_view name, T otherwise) {
  const auto found = node.attributes.find(name);
  const T* value = found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  return value == nullptr ? std::move(otherwise) : *value;
}

/// Whether an integer attribute is there and not 0.
inline bool is_set(const Node& node, std::string_view attribute) {
  return attribute_or<std::int64_t>(node, attribute, 0) != 0;
}

/// Whether each element of the result follows from those in its place: not of one that gathers or joins. Quantising
/// with one scale does.
bool works_by_elements(const Graph& graph, const Node& node);

}  // namespace sdip
