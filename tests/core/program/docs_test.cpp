// Does docs/formats.md say which bits an instruction's head has?
#include <gtest/gtest.h>

#include "core/program/form/word.h"
#include "tests/core/base/made_section.h"

namespace sdip {
namespace {

std::string head_table(Family family, const char* title) {
  Instruction instruction;
  InstructionClass c;
  c.work.family = family;
  WordContext context;
  std::vector<HeadField> fields;
  WordOut out(&fields);
  word_fields(out, instruction, c, context);
  std::string text = std::string("\n") + title + "\n\n| bits | field |\n| --- | --- |\n";
  int at = 0;
  for (const HeadField& field : fields) {
    const int last = at + field.bits - 1;
    text += "| " + std::to_string(at) + (last > at ? " to " + std::to_string(last) : "") + " | `" + field.name +
            "`" + (field.in_tail ? " \\*" : "") + " |\n";
    at = last + 1;
  }
  EXPECT_LE(at, 512);
  return text;
}

TEST(docs, the_parameters_of_a_program_are_named_in_their_order) {
  std::string names;
  for (const ParameterRow* row : program_parameters())
    names += (names.empty() ? "`" : ", `") + std::string(row->name) + "`";
  std::stringstream text;
  text << std::ifstream(SDIP_SOURCE_DIR "/docs/formats.md").rdbuf();
  EXPECT_NE(text.str().find("follow from: " + names + ". Left out"), std::string::npos) << names;
}

TEST(docs, the_bits_of_words_are_those_of_the_fields) {
  expect_made_section("formats.md", "words", "core/program/form/fields.h and word.h",
                      head_table(Family::conv2d, "Fields of conv2d, linear and matmul:") +
                          head_table(Family::vector, "Fields of all other families:"));
}

}  // namespace
}  // namespace sdip
