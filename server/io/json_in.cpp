// Strict reading of JSON, over nlohmann's parser with a callback that sees every key.
#include "server/io/json_in.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr int most_nesting = 32;

/// Where the parser is: one entry for each object or array that is open.
struct OpenValue {
  bool array = false;
  std::size_t index = 0;
  std::string key;
  std::set<std::string> keys;
};

std::string pointer_of(const std::vector<OpenValue>& open) {
  std::string pointer;
  for (const auto& level : open)
    pointer += "/" + (level.array ? std::to_string(level.index) : pointer_token(level.key));
  return pointer;
}

void close_value(std::vector<OpenValue>& open) {
  if (!open.empty() && open.back().array) ++open.back().index;
}

void see_event(std::vector<OpenValue>& open, Json::parse_event_t event, const Json& parsed) {
  using Event = Json::parse_event_t;
  switch (event) {
    case Event::object_start:
    case Event::array_start:
      if (open.size() >= most_nesting)
        throw Error("json_invalid", pointer_of(open), "nested deeper than " + std::to_string(most_nesting));
      open.push_back({.array = event == Event::array_start, .index = 0, .key = {}, .keys = {}});
      break;
    case Event::key:
      open.back().key = parsed.get<std::string>();
      if (!open.back().keys.insert(open.back().key).second)
        throw Error("json_duplicate_key", pointer_of(open), "the key appears twice in one object");
      break;
    case Event::object_end:
    case Event::array_end:
      open.pop_back();
      close_value(open);
      break;
    case Event::value:
      close_value(open);
      break;
  }
}

/// nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without the bracket.
std::string reason_of(const Json::exception& problem) {
  const std::string text = problem.what();
  const auto bracket = text.find("] ");
  return (bracket == std::string::npos ? text : text.substr(bracket + 2)).substr(0, 300);
}

[[noreturn]] void refuse_type(const Json& value, std::string_view key, const std::string& pointer,
                              const std::string& expected) {
  throw Error("value_invalid", pointer + "/" + pointer_token(key),
              "expected " + expected + ", found " + json_text(value).substr(0, 80));
}

}  // namespace

Json parse_json(std::string_view text) {
  std::vector<OpenValue> open;
  try {
    return Json::parse(text, [&open](int, Json::parse_event_t event, Json& parsed) {
      see_event(open, event, parsed);
      return true;
    });
  } catch (const Json::exception& problem) {
    throw Error("json_invalid", pointer_of(open), reason_of(problem));
  }
}

OrderedJson bounded_json(std::string_view text) {
  constexpr std::int64_t most_values = 8'000'000;
  constexpr int most_depth = 200;
  std::int64_t values = 0;
  return OrderedJson::parse(text, [&](int depth, OrderedJson::parse_event_t, OrderedJson&) {
    if (++values > most_values || depth > most_depth)
      throw Error("json_invalid", "", "too many values, or too deep");
    return true;
  });
}

void require_keys(const Json& object, std::initializer_list<std::string_view> known, const std::string& pointer) {
  if (!object.is_object()) throw Error("value_invalid", pointer, "expected a JSON object");
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    std::string list;
    for (const auto name : known) list += " " + std::string(name);
    throw Error("unknown_key", pointer + "/" + pointer_token(key), "no such key; expected some of" + list);
  }
}

std::optional<std::string> text_field(const Json& object, std::string_view key, const std::string& pointer) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (!found->is_string()) refuse_type(*found, key, pointer, "a string");
  return found->get<std::string>();
}

std::optional<std::int64_t> integer_field(const Json& object, std::string_view key, const std::string& pointer) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  const bool fits =
      found->is_number_integer() && (!found->is_number_unsigned() || found->get<std::uint64_t>() <= INT64_MAX);
  if (!fits) refuse_type(*found, key, pointer, "a whole number");
  return found->get<std::int64_t>();
}

std::int64_t integer_within(const Json& body, std::string_view key, std::int64_t standard, std::int64_t least,
                            std::int64_t most) {
  const auto found = body.find(key);
  const bool beyond = found != body.end() && found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX;
  const std::int64_t number = beyond ? INT64_MAX : integer_field(body, key, "").value_or(standard);
  if (beyond || number < least || number > most)
    throw Error("value_out_of_range", "/" + std::string(key), fmt::format("expected {} to {}", least, most));
  return number;
}

std::optional<bool> flag_field(const Json& object, std::string_view key, const std::string& pointer) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (!found->is_boolean()) refuse_type(*found, key, pointer, "true or false");
  return found->get<bool>();
}

std::optional<std::vector<std::string>> texts_field(const Json& object, std::string_view key,
                                                    const std::string& pointer) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (!found->is_array()) refuse_type(*found, key, pointer, "an array of strings");
  std::vector<std::string> texts;
  for (const auto& item : *found) {
    if (!item.is_string()) refuse_type(*found, key, pointer, "an array of strings");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key.substr(0, 80)) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

}  // namespace sdip
