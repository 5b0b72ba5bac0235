// Strict JSON: what is refused, and where the error points.
#include "server/io/json_in.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace sdip {
namespace {

std::string reading_refused(const std::string& text) {
  try {
    parse_json(text);
  } catch (const Error& error) {
    return error.code + " " + error.where;
  }
  return "accepted";
}

TEST(json_in, a_plain_document_is_read) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2.5, "x", true, null]})")["a"][1], 2.5);
}

TEST(json_in, duplicate_keys_are_refused_with_their_pointer) {
  EXPECT_EQ(reading_refused(R"({"a": 1, "a": 2})"), "json_duplicate_key /a");
  EXPECT_EQ(reading_refused(R"({"axes": [{"x": 1}, {"b/c": 1, "b/c": 2}]})"), "json_duplicate_key /axes/1/b~1c");
}

TEST(json_in, equal_keys_of_different_objects_are_fine) {
  EXPECT_EQ(reading_refused(R"({"a": {"k": 1}, "b": {"k": 1}, "c": [{"k": 1}, {"k": 1}]})"), "accepted");
}

TEST(json_in, nan_trailing_text_and_broken_syntax_are_refused) {
  for (const char* text : {"NaN", "[Infinity]", "{} x", "{}{}", "{", "", "{'a': 1}", "[1,]", "1e999", "\"\xff\""})
    EXPECT_EQ(reading_refused(text).substr(0, 12), "json_invalid") << text;
}

TEST(json_in, nesting_is_limited_to_32) {
  EXPECT_EQ(reading_refused(std::string(32, '[') + std::string(32, ']')), "accepted");
  EXPECT_EQ(reading_refused(std::string(33, '[') + std::string(33, ']')).substr(0, 12), "json_invalid");
  EXPECT_EQ(reading_refused(std::string(1'000'000, '[')).substr(0, 12), "json_invalid");
}

TEST(json_in, unknown_keys_are_refused_with_their_pointer) {
  try {
    require_keys(parse_json(R"({"model": 1, "modle": 2})"), {"model"}, "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "unknown_key");
    EXPECT_EQ(error.where, "/modle");
  }
}

TEST(json_in, fields_of_another_type_are_refused) {
  const Json object = parse_json(R"({"a": "x", "b": 1.5, "c": 18446744073709551615})");
  EXPECT_THROW(integer_field(object, "a", ""), Error);
  EXPECT_THROW(integer_field(object, "b", ""), Error);
  EXPECT_THROW(integer_field(object, "c", ""), Error);
  EXPECT_THROW(flag_field(object, "a", ""), Error);
  EXPECT_EQ(text_field(object, "a", ""), "x");
  EXPECT_EQ(text_field(object, "absent", ""), std::nullopt);
}

TEST(json_in, broken_utf8_in_output_is_replaced_and_nan_is_null) {
  EXPECT_EQ(json_text(OrderedJson{{"a", "\xff"}, {"b", 0.0 / 0.0}}), "{\"a\":\"\xef\xbf\xbd\",\"b\":null}");
}

}  // namespace
}  // namespace sdip
