// Operator files: JSON to definitions, every field checked.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/ops/custom_form.h"

namespace sdip {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_operators = 256, most_inputs = 16, most_attributes = 32, most_name_bytes = 128;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error("operator_invalid", where, what);
}

void require_keys(const Json& object, std::initializer_list<std::string_view> known, const std::string& where) {
  if (!object.is_object()) refuse(where, "expected a JSON object");
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end()) {
      std::string list;
      for (const auto name : known) list += " " + std::string(name);
      refuse(where + "/" + key.substr(0, most_name_bytes), "no such field; there are" + list);
    }
}

const Json& required(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(where, fmt::format("the field '{}' is missing", key));
  return *found;
}

std::string text_of(const Json& value, const std::string& where) {
  if (!value.is_string()) refuse(where, "expected a string");
  return value.get<std::string>();
}

/// Letters, digits, `_` and the characters of `also`.
std::string name_of(const Json& value, const std::string& where, std::string_view also = "") {
  std::string name = text_of(value, where);
  const bool fits = !name.empty() && name.size() <= most_name_bytes && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           also.find(c) != std::string_view::npos;
  });
  const bool digit = fits && name[0] >= '0' && name[0] <= '9';
  if (!fits || digit)
    refuse(where, fmt::format("expected a name of 1 to {} letters, digits and '_'{}, not beginning with a digit",
                              most_name_bytes, also.empty() ? "" : fmt::format(" or one of '{}'", also)));
  return name;
}

/// A whole number, or the text of an expression.
std::string expression_text(const Json& value, const std::string& where) {
  if (value.is_number_integer()) return value.dump();
  if (!value.is_string()) refuse(where, "expected a whole number or an expression");
  return value.get<std::string>();
}

std::optional<ElementType> element_type_named(std::string_view name) {
  for (auto type = ElementType::float32; type <= last_element_type;
       type = static_cast<ElementType>(static_cast<int>(type) + 1))
    if (element_type_text(type) == name) return type;
  return std::nullopt;
}

Attribute standard_value(const Json& value, std::size_t kind, const std::string& where) {
  try {
    const auto whole = [](const Json& v) { return v.is_number_integer(); };
    const auto number = [](const Json& v) { return v.is_number(); };
    const auto text = [](const Json& v) { return v.is_string(); };
    if (kind == 0 && whole(value)) return value.get<std::int64_t>();
    if (kind == 1 && number(value)) return value.get<double>();
    if (kind == 2 && text(value)) return value.get<std::string>();
    if (value.is_array() && value.size() <= 1024) {
      if (kind == 3 && std::ranges::all_of(value, whole)) return value.get<std::vector<std::int64_t>>();
      if (kind == 4 && std::ranges::all_of(value, number)) return value.get<std::vector<double>>();
      if (kind == 5 && std::ranges::all_of(value, text)) return value.get<std::vector<std::string>>();
    }
  } catch (const Json::exception&) {
    refuse(where, "a number that cannot be held");
  }
  refuse(where, "expected a value of kind " + std::string(custom_kinds[kind]));
}

/// One definition under way: what its fields add to.
struct Definition {
  const Json& json;
  std::string where;
  CustomOperator custom;
  ExpressionNames names;
};

void take_name(Definition& d, const std::string& name, const std::string& where) {
  const auto in = [&](const std::vector<std::string>& list) { return std::ranges::find(list, name) != list.end(); };
  const bool reserved = name == "min" || name == "max" || name == "ceil_div" || name == "product";
  if (in(d.names.tensors) || in(d.names.integers) || in(d.names.lists) || reserved || element_type_named(name))
    refuse(where, "'" + name + "' is taken");
}

void read_inputs(Definition& d) {
  const Json& inputs = required(d.json, "inputs", d.where);
  if (!inputs.is_array() || inputs.empty() || inputs.size() > most_inputs)
    refuse(d.where + "/inputs", fmt::format("expected 1 to {} names", most_inputs));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string where = fmt::format("{}/inputs/{}", d.where, i);
    std::string name = name_of(inputs[i], where);
    take_name(d, name, where);
    d.names.tensors.push_back(name);
    d.custom.inputs.push_back(std::move(name));
  }
  d.custom.row.least_inputs = d.custom.row.most_inputs = inputs.size();
  if (!d.json.contains("least_inputs")) return;
  const Json& least = d.json["least_inputs"];
  if (!least.is_number_unsigned() || least.get<std::uint64_t>() < 1 || least.get<std::uint64_t>() > inputs.size())
    refuse(d.where + "/least_inputs", "expected 1 to " + std::to_string(inputs.size()));
  d.custom.row.least_inputs = least.get<std::size_t>();
}

void read_attributes(Definition& d) {
  if (!d.json.contains("attributes")) return;
  const Json& attributes = d.json["attributes"];
  const std::string where = d.where + "/attributes";
  if (!attributes.is_object() || attributes.size() > most_attributes)
    refuse(where, fmt::format("expected an object of at most {} attributes", most_attributes));
  for (const auto& [key, value] : attributes.items()) {
    const std::string at = where + "/" + key.substr(0, most_name_bytes);
    CustomAttribute attribute;
    attribute.name = name_of(Json(key), at);
    take_name(d, attribute.name, at);
    require_keys(value, {"type", "default"}, at);
    const std::string kind = text_of(required(value, "type", at), at + "/type");
    const auto found = std::ranges::find(custom_kinds, kind);
    if (found == std::end(custom_kinds))
      refuse(at + "/type", "expected int, float, string, ints, floats or strings");
    attribute.kind = as_size(found - std::begin(custom_kinds));
    if (value.contains("default"))
      attribute.standard = standard_value(value["default"], attribute.kind, at + "/default");
    if (attribute.kind == 0) d.names.integers.push_back(attribute.name);
    if (attribute.kind == 3) d.names.lists.push_back(attribute.name);
    d.custom.attribute_names += (d.custom.attribute_names.empty() ? "" : " ") + attribute.name;
    d.custom.attributes.push_back(std::move(attribute));
  }
}

void read_output(Definition& d) {
  const Json& outputs = required(d.json, "outputs", d.where);
  if (!outputs.is_array() || outputs.size() != 1) refuse(d.where + "/outputs", "expected an array of one output");
  const Json& output = outputs[0];
  const std::string where = d.where + "/outputs/0";
  require_keys(output, {"name", "type", "shape"}, where);
  const std::string name = name_of(required(output, "name", where), where + "/name");
  take_name(d, name, where + "/name");
  const std::string type = text_of(required(output, "type", where), where + "/type");
  d.custom.output_type = element_type_named(type);
  const auto like = std::ranges::find(d.custom.inputs, type);
  d.custom.output_like = as_size(like - d.custom.inputs.begin());
  if (!d.custom.output_type && d.custom.output_like >= d.custom.row.least_inputs)
    refuse(where + "/type", "expected an element type, as float32, or the name of an input that is always there");
  const Json& shape = required(output, "shape", where);
  if (!shape.is_array()) refuse(where + "/shape", "expected an array of expressions");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < shape.size() && i <= most_shape_items; ++i)
    texts.push_back(expression_text(shape[i], fmt::format("{}/shape/{}", where, i)));
  d.custom.output_shape = parse_shape(texts, d.names, where + "/shape");
  d.names.tensors.push_back(name);  // its sizes are known when the work is asked for
}

void read_field(Definition& d, const Json& work, const std::string& key, const std::string& where) {
  if (!work.contains(key)) return;
  const std::string at = where + "/" + key;
  d.custom.work.emplace(key, parse_expression(expression_text(work[key], at), d.names, at));
}

void read_row_work(Definition& d, const Json& work, const std::string& where) {
  require_keys(
      work, {"family", "rows", "row_length", "passes", "read_elements", "write_elements", "element_cycles"}, where);
  for (const char* key : {"row_length", "write_elements"}) required(work, key, where);
  for (const char* key : {"rows", "row_length", "passes", "write_elements"}) read_field(d, work, key, where);
  const Json& reads = required(work, "read_elements", where);
  if (!reads.is_array() || reads.size() != d.custom.inputs.size())
    refuse(where + "/read_elements", "expected an array of one expression for each input");
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const std::string at = fmt::format("{}/read_elements/{}", where, i);
    d.custom.read_elements.push_back(parse_expression(expression_text(reads[i], at), d.names, at));
  }
}

void read_nest_work(Definition& d, const Json& work, const std::string& where) {
  require_keys(work, {"family", "nest", "element_cycles"}, where);
  if (d.custom.row.least_inputs < 2) refuse(where, "a product needs two inputs that are always there");
  const Json& nest = required(work, "nest", where);
  if (!nest.is_object()) refuse(where + "/nest", "expected an object");
  for (const auto& [key, value] : nest.items()) {
    if (std::ranges::find(nest_fields, key, &NestField::name) == std::end(nest_fields))
      refuse(where + "/nest/" + key.substr(0, most_name_bytes), "no such field of a loop nest");
    read_field(d, nest, key, where + "/nest");
  }
}

void read_work(Definition& d) {
  const Json& work = required(d.json, "work", d.where);
  const std::string where = d.where + "/work";
  if (!work.is_object()) refuse(where, "expected a JSON object");
  const std::string family = text_of(required(work, "family", where), where + "/family");
  constexpr Family known[] = {Family::vector, Family::softmax, Family::norm,  Family::transpose,
                              Family::conv2d, Family::linear,  Family::matmul};
  const auto found = std::ranges::find(known, family, family_text);
  if (found == std::end(known))
    refuse(where + "/family", "expected vector, softmax, norm, transpose, conv2d, linear or matmul");
  d.custom.family = *found;
  if (is_product(*found))
    read_nest_work(d, work, where);
  else
    read_row_work(d, work, where);
  read_field(d, work, "element_cycles", where);
}

/// The row's views are of the definition's own strings, which stay where they are.
void complete_row(CustomOperator& custom) {
  Operator& row = custom.row;
  row = {custom.domain,          custom.type,  custom.mnemonic, row.least_inputs, row.most_inputs,
         custom.attribute_names, infer_custom, custom_work};
  row.custom = &custom;
}

std::unique_ptr<const CustomOperator> read_definition(const Json& json, const std::string& where) {
  require_keys(json, {"domain", "type", "mnemonic", "inputs", "least_inputs", "attributes", "outputs", "work"},
               where);
  Definition d{json, where, {}, {}};
  const Json& domain = required(json, "domain", where);
  d.custom.domain = domain == "" || domain == "ai.onnx" ? "" : name_of(domain, where + "/domain", ".-");
  if (d.custom.domain == "sdip") refuse(where + "/domain", "'sdip' is kept for what rewrites make");
  d.custom.type = name_of(required(json, "type", where), where + "/type");
  d.custom.mnemonic =
      json.contains("mnemonic") ? name_of(json["mnemonic"], where + "/mnemonic") : lower(d.custom.type);
  if (find_operator(d.custom.domain, d.custom.type) != nullptr)
    refuse(where + "/type", "'" + d.custom.type + "' is built in and cannot be defined again");
  read_inputs(d);
  read_attributes(d);
  read_output(d);
  read_work(d);
  auto custom = std::make_unique<CustomOperator>(std::move(d.custom));
  complete_row(*custom);
  return custom;
}

}  // namespace

std::shared_ptr<const OwnOperators> own_operators(const std::vector<Json>& files,
                                                  const std::vector<std::string>& labels) {
  check(files.size() == labels.size(), "own_operators: a label for each file");
  auto own = std::make_shared<OwnOperators>();
  Json all = Json::array();
  for (std::size_t f = 0; f < files.size(); ++f) {
    require_keys(files[f], {"operators"}, labels[f] + "#");
    const Json& list = required(files[f], "operators", labels[f] + "#");
    if (!list.is_array()) refuse(labels[f] + "#/operators", "expected an array");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string where = fmt::format("{}#/operators/{}", labels[f], i);
      auto custom = read_definition(list[i], where);
      if (find_operator(own.get(), custom->domain, custom->type) != nullptr)
        refuse(where, fmt::format("'{}' of domain '{}' is defined twice", custom->type, custom->domain));
      if (own->list.size() == most_operators) refuse(where, fmt::format("more than {} operators", most_operators));
      own->list.push_back(std::move(custom));
      all.push_back(list[i]);
    }
  }
  own->json = all.dump(-1, ' ', false, Json::error_handler_t::replace);
  return own;
}

}  // namespace sdip
