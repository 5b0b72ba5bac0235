// The parts that JSON schemas of the API are made of.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/io/json_in.h"

namespace sdip {
namespace schema {

using Schema = OrderedJson;
using Properties = std::vector<std::pair<std::string, Schema>>;

Schema text();
Schema integer();
Schema number();
Schema flag();
Schema array(Schema items);
Schema one_of(std::initializer_list<const char*> names);
Schema one_of(std::span<const std::string_view> names);
Schema reference(const char* name);
/// A scalar that may be null.
Schema nullable(Schema schema);
/// Anything that may be null.
Schema or_null(Schema schema);
/// A cell of a table of points: index, flag, text, number or none.
Schema cell();
/// Names ending in ? may be absent; nothing else may be present.
Schema object(const Properties& properties);
/// Properties that are integers.
Properties integers(std::initializer_list<const char*> names);
}  // namespace schema

}  // namespace sdip
