// The parts that JSON schemas of the API are made of.
#include "server/json/schema.h"

namespace sdip::schema {

Schema text() { return {{"type", "string"}}; }
Schema integer() { return {{"type", "integer"}}; }
Schema number() { return {{"type", "number"}}; }
Schema flag() { return {{"type", "boolean"}}; }
Schema array(Schema items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Schema one_of(std::initializer_list<const char*> names) { return {{"type", "string"}, {"enum", names}}; }
Schema one_of(std::span<const std::string_view> names) {
  Schema list = Schema::array();
  for (const std::string_view name : names) list.push_back(name);
  return {{"type", "string"}, {"enum", std::move(list)}};
}
Schema reference(const char* name) { return {{"$ref", std::string("#/components/schemas/") + name}}; }
Schema nullable(Schema schema) {
  schema["type"] = OrderedJson::array({schema["type"], "null"});
  return schema;
}
Schema or_null(Schema schema) { return {{"anyOf", {std::move(schema), {{"type", "null"}}}}}; }
Schema cell() { return {{"type", {"string", "number", "boolean", "null"}}}; }

Schema object(const Properties& properties) {
  Schema schema = {{"type", "object"}, {"properties", Schema::object()}, {"required", Schema::array()}};
  for (const auto& [key, value] : properties) {
    const bool optional = key.ends_with('?');
    const std::string name = optional ? key.substr(0, key.size() - 1) : key;
    schema["properties"][name] = value;
    if (!optional) schema["required"].push_back(name);
  }
  schema["additionalProperties"] = false;
  return schema;
}

Properties integers(std::initializer_list<const char*> names) {
  Properties properties;
  for (const auto name : names) properties.emplace_back(name, integer());
  return properties;
}

}  // namespace sdip::schema
