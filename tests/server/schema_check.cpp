// A small JSON Schema checker.
#include "tests/server/schema_check.h"

#include <algorithm>
#include <set>

namespace sdip::test {
namespace {

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == "null" && value.is_null();
}

bool fits_type(const Json& value, const Json& type) {
  if (type.is_string()) return has_type(value, type);
  return std::any_of(type.begin(), type.end(), [&](const Json& one) { return has_type(value, one); });
}

void add(std::vector<std::string>& all, std::vector<std::string> more) {
  all.insert(all.end(), more.begin(), more.end());
}

void check_object(std::vector<std::string>& found, const Json& value, const Json& schema, const Json& document,
                  const std::string& pointer) {
  for (const auto& name : schema.value("required", Json::array()))
    if (!value.contains(name.get<std::string>())) found.push_back(pointer + ": lacks " + name.dump());
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [key, one] : value.items()) {
    if (properties.contains(key))
      add(found, misfits(one, properties[key], document, pointer + "/" + key));
    else if (schema.value("additionalProperties", Json(true)) == Json(false))
      found.push_back(pointer + "/" + key + ": not in the schema");
    else if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object())
      add(found, misfits(one, schema["additionalProperties"], document, pointer + "/" + key));
  }
}

}  // namespace

std::vector<std::string> misfits(const Json& value, const Json& schema, const Json& document,
                                 const std::string& pointer) {
  static const std::set<std::string> known = {
      "$ref",    "type",    "enum",  "items",       "properties", "required", "additionalProperties",
      "minimum", "maximum", "anyOf", "description", "default"};
  std::vector<std::string> found;
  for (const auto& [key, ignored] : schema.items())
    if (!known.contains(key)) found.push_back(pointer + ": schema keyword " + key);
  if (schema.contains("$ref"))
    return misfits(value, document.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), document,
                   pointer);
  if (schema.contains("anyOf")) {
    const bool any = std::ranges::any_of(
        schema["anyOf"], [&](const Json& one) { return misfits(value, one, document, pointer).empty(); });
    if (!any) found.push_back(pointer + ": fits none of anyOf");
  }
  if (schema.contains("type") && !fits_type(value, schema["type"]))
    return found.push_back(pointer + ": expected " + schema["type"].dump() + ", found " +
                           value.dump().substr(0, 60)),
           found;
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
    found.push_back(pointer + ": " + value.dump() + " is not in enum");
  if (schema.contains("minimum") && value.is_number() && value < schema["minimum"])
    found.push_back(pointer + ": below minimum");
  if (schema.contains("maximum") && value.is_number() && value > schema["maximum"])
    found.push_back(pointer + ": above maximum");
  if (value.is_object()) check_object(found, value, schema, document, pointer);
  if (value.is_array() && schema.contains("items"))
    for (std::size_t i = 0; i < value.size(); ++i)
      add(found, misfits(value[i], schema["items"], document, pointer + "/" + std::to_string(i)));
  return found;
}

}  // namespace sdip::test
