// Does the language of mappings say what it reads, and refuse the rest by line and field?
#include "core/program/tiling/mapping_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr const char* rule_example =
    "\"/down*/conv1\" rows=8 columns=all channels=128 sums=320 order=channels,sums,columns,rows";

TEST(mapping_text, of_the_worked_example_is_a_mapping_of_its_layer) {
  const auto rules = parse_mappings(std::string("# tiles\n\n") + rule_example + " dsram # on chip\n", "tiles.txt");
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].line, 3);
  EXPECT_EQ(rules[0].result, Place::dsram);
  Nest nest;
  nest.loops.out_h = nest.loops.out_w = 64, nest.loops.out_channels = nest.loops.in_channels = 320;
  const Mapping m = mapping_for(rules[0], nest);
  EXPECT_EQ(m, (Mapping{8, 64, 128, 320, {Loop::channels, Loop::sums, Loop::columns, Loop::rows}}));
  EXPECT_TRUE(matches(rules[0], "unet", "/down_blocks.0/conv1"));
  EXPECT_FALSE(matches(rules[0], "unet", "/down_blocks.0/conv11"));
  EXPECT_EQ(mapping_text(rules[0]), std::string(rule_example) + " dsram");
}

TEST(mapping_text, of_any_rule_reads_back_the_same) {
  std::mt19937 rng(3);
  const std::string letters = "ab/*\"\\ #:.=";
  for (int i = 0; i < 3000; ++i) {
    Nest nest;
    LoopNest& n = nest.loops;
    const auto to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(rng()) % most; };
    for (std::int64_t* size : {&n.out_h, &n.out_w, &n.out_channels, &n.in_channels}) *size = to(9);
    Mapping m{to(n.out_h), to(n.out_w), to(n.out_channels), to(n.in_channels)};
    std::ranges::shuffle(m.order, rng);
    std::string name = "x";
    for (std::size_t k = rng() % 8; k > 0; --k) name += letters[rng() % letters.size()];
    MappingRule rule = rule_of(name, nest, m);
    if (rng() % 3 == 0) rule.result = rng() % 2 == 0 ? Place::dram : Place::dsram;
    const auto read = parse_mappings(mapping_text(rule) + "\n", "t");
    ASSERT_EQ(read.size(), 1U) << mapping_text(rule);
    ASSERT_EQ(mapping_text(read[0]), mapping_text(rule));
    ASSERT_EQ(mapping_for(read[0], nest), m) << mapping_text(rule);
    ASSERT_EQ(read[0].result, rule.result);
    ASSERT_TRUE(matches(read[0], "stage", name)) << mapping_text(rule);
    ASSERT_FALSE(matches(read[0], "stage", name + "y")) << mapping_text(rule);
  }
}

TEST(pattern, stands_for_a_name_or_a_stage_and_a_name) {
  const auto stands = [](const std::string& pattern, const char* name) {
    MappingRule rule;
    rule.pattern = pattern;
    return matches(rule, "vae", name);
  };
  EXPECT_TRUE(stands("*", ""));
  EXPECT_TRUE(stands("vae:/conv", "/conv"));
  EXPECT_FALSE(stands("unet:/conv", "/conv"));
  EXPECT_TRUE(stands("*/conv*1", "/a/conv.1.1"));
  EXPECT_FALSE(stands("*/conv*1", "/a/conv.1.2"));
  EXPECT_TRUE(stands("a\\*b", "a*b"));
  EXPECT_FALSE(stands("a\\*b", "axb"));
  EXPECT_FALSE(stands("a", ""));
  EXPECT_TRUE(stands("a*", "a"));
  EXPECT_FALSE(stands("ab*ba", "aba")) << "first and last piece may not overlap";
  EXPECT_TRUE(stands("*ab*ab*", "xaabxaab"));
  EXPECT_FALSE(stands("*ab*ab*ab", "abxaab"));
  EXPECT_TRUE(stands("**", "x"));
}

/// By trying every length for every star.
bool stands_by_trying(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*')
    return stands_by_trying(pattern.substr(1), text) ||
           (!text.empty() && stands_by_trying(pattern, text.substr(1)));
  return !text.empty() && pattern[0] == text[0] && stands_by_trying(pattern.substr(1), text.substr(1));
}

TEST(pattern, of_stars_and_two_letters_stands_for_what_trying_every_length_finds) {
  std::mt19937 dice(7);
  std::int64_t matched = 0;
  const auto drawn = [&](std::string_view letters, std::size_t most) {
    std::string text;
    for (std::size_t left = dice() % (most + 1); left > 0; --left) text += letters[dice() % letters.size()];
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string pattern = drawn("aab**", 8), name = drawn("aab", 10);
    const bool found = names_layer(pattern, "", name);
    ASSERT_EQ(found, stands_by_trying(pattern, name) || stands_by_trying(pattern, ":" + name))
        << pattern << " " << name;
    matched += found;
  }
  EXPECT_GT(matched, 1000);
}

TEST(pattern, that_repeats_itself_takes_time_of_its_length_and_the_name_s_not_of_their_product) {
  const std::string run(1'000'000, 'a');
  std::string stars;
  for (int i = 0; i < 1000; ++i) stars += "*" + std::string(500, 'a');
  const std::clock_t before = std::clock();
  EXPECT_FALSE(names_layer("*" + run.substr(0, 500'000) + "b*", "vae", run));
  EXPECT_FALSE(names_layer(stars + "*b", "vae", run + "c"));
  EXPECT_TRUE(names_layer(stars + "*", "vae", run));
  // The product of the first two lengths, 5 x 10^11 comparisons, would take minutes.
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 5.0);
}

TEST(mapping_text, is_refused_by_line_and_field) {
  const std::string sizes = "\"x\" rows=1 columns=1 channels=1 sums=1 ";
  const std::pair<std::string, std::string> cases[] = {
      {"x rows=1", "t:1: field 1: expected a pattern in double quotes"},
      {"\"x", "field 1: the pattern has no closing quote"},
      {"\"\" rows=1", "field 1: the pattern is empty"},
      {"\"a\\b\"", "field 1: a backslash stands before"},
      {"\"x\" rows=0", "field 2: expected a whole number from 1, or all; found '0'"},
      {"\"x\" rows=8x", "found '8x'"},
      {"\"x\" rows=99999999999999999999", "expected a whole number"},
      {"\"x\" rows=1 rows=2", "field 3: expected rows="},
      {"\"x\" rows", "expected a whole number"},
      {"\"x\" lanes=2", "found 'lanes=2'"},
      {"\"x\" rows=1 columns=1 channels=1", "field 5: sums= is missing"},
      {sizes, "field 6: order= is missing"},
      {sizes + "order=rows,columns,sums", "the order names 3 of the four loops"},
      {sizes + "order=rows,rows,channels,sums", "once each"},
      {sizes + "order=rows,columns,channels,sums,rows", "once each"},
      {sizes + "order=rows,columns,channels,kernel", "once each"},
      {sizes + "order=rows,columns,channels,sums dram dram", "field 8: nothing may follow"},
      {"\n\n\"x\" rows=-1", "t:3: field 2"},
  };
  for (const auto& [text, says] : cases) {
    try {
      parse_mappings(text, "t");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "mapping_invalid");
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what() << " for " << text;
    }
  }
}

}  // namespace
}  // namespace sdip
