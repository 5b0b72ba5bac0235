// JSON from outside, read strictly: one value, no duplicate or unknown keys, no surprises in depth or type.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/escaped.h"

namespace sdip {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// Parses one JSON value. Throws Error json_invalid (syntax, NaN, numbers beyond double, trailing text, nesting
/// above 32), json_duplicate_key (where: pointer to the key).
Json parse_json(std::string_view text);

/// Parses what another process of ours wrote, which may be in an attacker's hands: what it is made of is counted as
/// it is read. Throws OrderedJson::exception, and Error json_invalid for more than 8 million values or nesting
/// above 200.
OrderedJson bounded_json(std::string_view text);

/// Throws Error unknown_key unless every key of `object` is listed; json_invalid unless it is an object.
void require_keys(const Json& object, std::initializer_list<std::string_view> known, const std::string& pointer);

/// The field as that type, or nullopt when absent. Throws Error value_invalid naming the pointer.
std::optional<std::string> text_field(const Json& object, std::string_view key, const std::string& pointer);
std::optional<std::int64_t> integer_field(const Json& object, std::string_view key, const std::string& pointer);
/// The whole number, or `standard` when absent. Throws Error value_out_of_range, too, outside least to most.
std::int64_t integer_within(const Json& body, std::string_view key, std::int64_t standard, std::int64_t least,
                            std::int64_t most);
std::optional<bool> flag_field(const Json& object, std::string_view key, const std::string& pointer);
std::optional<std::vector<std::string>> texts_field(const Json& object, std::string_view key,
                                                    const std::string& pointer);

/// A string as one token of a JSON pointer: ~ and / escaped, cut at 80 bytes.
std::string pointer_token(std::string_view key);

/// A list of the JSON that `one` makes of each.
template <class Range, class One>
OrderedJson json_list(const Range& range, const One& one) {
  OrderedJson list = OrderedJson::array();
  for (const auto& each : range) list.push_back(std::invoke(one, each));
  return list;
}

/// The value as text. Broken UTF-8 becomes U+FFFD, NaN and infinities null; characters that a terminal obeys or
/// nobody sees are escaped.
template <class AnyJson>
std::string json_text(const AnyJson& value, int indent = -1) {
  return visible_json(value.dump(indent, ' ', false, AnyJson::error_handler_t::replace));
}

}  // namespace sdip
