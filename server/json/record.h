// A result's fields, each said once: its key, unit and meaning, and how it is read. Its JSON and its schema are
// made of these.
//
// Worked example for struct Peak { std::string name; std::int64_t bytes; }
//
//   template <>
//   Record<Peak> make_record() {
//     return Record<Peak>("Peak").field("name", &Peak::name).field("bytes", &Peak::bytes);
//   }
//
// makes {"name": "dsram", "bytes": 8} of a peak, and of Peak the schema of an object with a text and an integer.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "server/json/schema.h"

namespace sdip {

/// Unit and sentences that tell people of a field.
struct FieldWords {
  std::string_view unit{}, en{}, ja{};
};
struct FieldInfo {
  std::string_view name;
  FieldWords words;
};
/// The fields of a record that have words.
struct FieldRecord {
  std::string_view name;
  std::vector<FieldInfo> fields;
};

template <class T>
class Record;
/// The fields of T. A file that writes a T defines a specialisation.
template <class T>
Record<T> make_record();
/// The same, made once.
template <class T>
const Record<T>& record() {
  static const Record<T> made = make_record<T>();
  return made;
}

/// How values of a type are written, and the schema of that. Whatever is nothing below is a record.
template <class V>
struct Written {
  static OrderedJson json(const V& value) { return record<V>().json(value); }
  static schema::Schema schema() { return schema::reference(record<V>().name().c_str()); }
};
template <std::integral V>
struct Written<V> {
  static OrderedJson json(V value) { return value; }
  static schema::Schema schema() { return std::same_as<V, bool> ? schema::flag() : schema::integer(); }
};
template <>
struct Written<double> {
  static OrderedJson json(double value) { return value; }
  static schema::Schema schema() { return schema::number(); }
};
template <std::convertible_to<std::string_view> V>
struct Written<V> {
  static OrderedJson json(const V& value) { return std::string_view(value); }
  static schema::Schema schema() { return schema::text(); }
};
template <class Unit, class Rep>
struct Written<Quantity<Unit, Rep>> {
  static OrderedJson json(Quantity<Unit, Rep> value) { return value.value; }
  static schema::Schema schema() { return Written<Rep>::schema(); }
};
template <class V>
struct Written<std::vector<V>> {
  static OrderedJson json(const std::vector<V>& values) {
    OrderedJson list = OrderedJson::array();
    for (const V& value : values) list.push_back(Written<V>::json(value));
    return list;
  }
  static schema::Schema schema() { return schema::array(Written<V>::schema()); }
};
/// Null where there is none.
template <class V>
struct Written<std::optional<V>> {
  static OrderedJson json(const std::optional<V>& value) {
    return value ? Written<V>::json(*value) : OrderedJson();
  }
  static schema::Schema schema() {
    schema::Schema of = Written<V>::schema();
    const bool scalar = of.contains("type") && of["type"] != "array" && of["type"] != "object";
    return scalar ? schema::nullable(std::move(of)) : schema::or_null(std::move(of));
  }
};

/// JSON has no infinities: they, and what is no number, are null.
OrderedJson number_or_null(double value);

/// A figure that may be no number.
struct Figure {
  double value{};
};
template <>
struct Written<Figure> {
  static OrderedJson json(Figure figure) { return number_or_null(figure.value); }
  static schema::Schema schema() { return schema::nullable(schema::number()); }
};

/// Figures by name, each of which may be no number.
struct NamedFigures : std::vector<std::pair<std::string, double>> {
  using vector::vector;
};
template <>
struct Written<NamedFigures> {
  static OrderedJson json(const NamedFigures& figures) {
    OrderedJson object = OrderedJson::object();
    for (const auto& [name, value] : figures) object[name] = number_or_null(value);
    return object;
  }
  static schema::Schema schema() {
    return {{"type", "object"}, {"additionalProperties", Written<Figure>::schema()}};
  }
};

/// An enumeration that `text` spells.
template <auto text>
struct WrittenText {
  template <class V>
  static OrderedJson json(V value) {
    return text(value);
  }
  static schema::Schema schema() { return schema::text(); }
};

/// The same with the texts of all up to `last` as its schema.
template <auto text, auto last>
struct WrittenNames : WrittenText<text> {
  static schema::Schema schema() {
    schema::Schema names = schema::Schema::array();
    for (int i = 0; i <= static_cast<int>(last); ++i) names.push_back(text(static_cast<decltype(last)>(i)));
    return {{"type", "string"}, {"enum", std::move(names)}};
  }
};

/// A V for each of an enumeration up to `last`, under its text.
template <auto text, auto last, class V>
struct WrittenByName {
  template <class Values>
  static OrderedJson json(const Values& values) {
    OrderedJson object = OrderedJson::object();
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
      object[std::string(text(static_cast<decltype(last)>(i)))] = Written<V>::json(V{values[i]});
    return object;
  }
  static schema::Schema schema() {
    schema::Properties properties;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
      properties.emplace_back(text(static_cast<decltype(last)>(i)), Written<V>::schema());
    return schema::object(properties);
  }
};

/// The order of a record's fields in a schema: as in JSON; or counts first, figures in J last.
enum class SchemaOrder { written, counts_first };

template <class T>
class Record {
 public:
  struct Field {
    std::string key;  // without ?
    bool optional = false;
    schema::Schema schema;
    std::function<OrderedJson(const T&)> json;
    FieldWords words;
    int place = 1;  // in the schema: those of 0 stand first
  };

  explicit Record(std::string name, SchemaOrder order = SchemaOrder::written)
      : name_(std::move(name)), order_(order) {}

  /// `key` ends in ? where a value of null is left out. `reader`: a member, or a function of const T&.
  template <class Reader>
  Record& field(std::string key, Reader reader, FieldWords words = {}) {
    using V = std::remove_cvref_t<std::invoke_result_t<Reader, const T&>>;
    return add(
        std::move(key), Written<V>::schema(),
        [reader](const T& of) { return Written<V>::json(std::invoke(reader, of)); }, words);
  }
  /// The same of a value whose type does not say its schema.
  template <class Reader>
  Record& field(std::string key, schema::Schema schema, Reader reader) {
    return add(std::move(key), std::move(schema),
               [reader](const T& of) { return OrderedJson(std::invoke(reader, of)); }, {});
  }
  /// All fields of another record that T has one of.
  template <class Reader>
  Record& with(Reader reader) {
    using Inner = std::remove_cvref_t<std::invoke_result_t<Reader, const T&>>;
    for (const auto& one : record<Inner>().fields())
      fields_.push_back({one.key, one.optional, one.schema,
                         [reader, json = one.json](const T& of) { return json(std::invoke(reader, of)); },
                         one.words, one.place});
    return *this;
  }

  const std::string& name() const { return name_; }
  const std::vector<Field>& fields() const { return fields_; }
  FieldRecord words() const {
    FieldRecord said{name_, {}};
    for (const Field& one : fields_)
      if (!one.words.en.empty()) said.fields.push_back({one.key, one.words});
    return said;
  }

  OrderedJson json(const T& value) const {
    OrderedJson object = OrderedJson::object();
    for (const Field& one : fields_) {
      OrderedJson written = one.json(value);
      if (!one.optional || !written.is_null()) object[one.key] = std::move(written);
    }
    return object;
  }
  schema::Schema schema() const {
    schema::Properties properties;
    for (int place = 0; place < 3; ++place)
      for (const Field& one : fields_)
        if (one.place == place) properties.emplace_back(one.key + (one.optional ? "?" : ""), one.schema);
    return schema::object(properties);
  }

 private:
  Record& add(std::string key, schema::Schema schema, std::function<OrderedJson(const T&)> json, FieldWords words) {
    const bool optional = key.ends_with('?');
    if (optional) {
      key.pop_back();
      if (schema.contains("anyOf")) schema = schema::Schema(schema["anyOf"][0]);
      if (schema.contains("type") && schema["type"].is_array()) schema["type"] = schema::Schema(schema["type"][0]);
    }
    const bool counts = schema.contains("type") && schema["type"] == "integer";
    const int place = order_ == SchemaOrder::written ? 1 : counts ? 0 : words.unit == "J" ? 2 : 1;
    fields_.push_back({std::move(key), optional, std::move(schema), std::move(json), words, place});
    return *this;
  }

  std::string name_;
  SchemaOrder order_;
  std::vector<Field> fields_;
};

/// Adds the schema of each T under its name.
template <class... T>
void add_schemas(OrderedJson& schemas) {
  ((schemas[record<T>().name()] = record<T>().schema()), ...);
}

}  // namespace sdip
