// sdip assemble, disassemble, analyze --program, and what compile says of its passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/io/json_in.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

TEST(programs, text_and_words_become_each_other_and_cost_what_the_model_costs) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_on_essay({"compile", "tiny-sd-unet", "--out", folder / "a"}).exit_code, 0);
  ASSERT_EQ(run_on_essay({"compile", "tiny-sd-unet", "--out", folder / "a", "--binary"}).exit_code, 0);
  const std::string text = folder / "a/tiny-sd-unet.graph", words = folder / "a/tiny-sd-unet.graphb";
  EXPECT_EQ(run_sdip({"disassemble", words}).out, file_text(text));
  const Ended assembled = run_sdip({"assemble", text, "-o", folder / "again"});
  EXPECT_THAT(assembled.out, HasSubstr("419 instructions, "));
  EXPECT_EQ(file_text(folder / "again"), file_text(words));
  const Json model = Json::parse(run_on_essay({"analyze", "tiny-sd-unet", "--json"}).out);
  for (const std::string& file : {text, words}) {
    const Json program = Json::parse(run_on_essay({"analyze", "--program", file, "--json"}).out);
    EXPECT_EQ(program["metrics"], model["metrics"]);
    EXPECT_EQ(program["stages"], model["stages"]);
  }
}

TEST(programs, what_fits_as_a_model_in_tiles_fits_as_a_program) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_sdip({"compile", "sd15-unet", "--preset", "edge", "--out", folder / "a"}).exit_code, 0);
  const Ended model = run_sdip({"analyze", "sd15-unet", "--preset", "edge", "--json"});
  const Ended program =
      run_sdip({"analyze", "--program", folder / "a/sd15-unet.graph", "--preset", "edge", "--json"});
  EXPECT_EQ(program.exit_code, 0);
  EXPECT_EQ(Json::parse(program.out)["metrics"], Json::parse(model.out)["metrics"]);
}

TEST(programs, parts_in_series_are_programs_that_cost_what_the_network_costs) {
  const TemporaryFolder folder;
  const std::vector<std::string> machine{"--set", "core_weights=per_core", "--set", "cores=3"};
  const auto with_machine = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), machine.begin(), machine.end());
    return run_sdip(arguments);
  };
  ASSERT_EQ(with_machine({"compile", "tiny-sd-text", "--out", folder / "a"}).exit_code, 0);
  std::vector<std::string> command{"analyze", "--json"};
  for (const char* part : {"1", "2", "3"})
    command.insert(command.end(), {"--program", folder / ("a/tiny-sd-text_" + std::string(part) + ".graph")});
  const Ended programs = with_machine(command);
  ASSERT_EQ(programs.exit_code, 0) << programs.err;
  EXPECT_EQ(Json::parse(programs.out)["metrics"],
            Json::parse(with_machine({"analyze", "tiny-sd-text", "--json"}).out)["metrics"]);
}

TEST(programs, a_machine_that_does_not_take_one_says_why) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_on_essay({"compile", "tiny-sd-unet", "--out", folder / "a"}).exit_code, 0);
  const std::string text = folder / "a/tiny-sd-unet.graph";
  const Ended other = run_on_essay({"analyze", "--program", text, "--set", "weight_format=int8"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("sdip: program_mismatch: weight_format: "));
  const Ended small = run_on_essay({"analyze", "--program", text, "--set", "dsram_bytes=1024"});
  EXPECT_EQ(small.exit_code, 3);
  EXPECT_THAT(small.out, HasSubstr("/conv_in/Conv: needs 4096 B of DSRAM, which has 1024"));
  EXPECT_THAT(run_on_essay({"analyze"}).err, HasSubstr("value_conflict"));
  write_file(folder / "bad.graph", "sdip graph 2\nnothing\n");
  EXPECT_THAT(run_sdip({"disassemble", folder / "bad.graph"}).err, HasSubstr("bad.graph: line 2: "));
}

TEST(programs, passes_are_listed_timed_and_printed) {
  const Ended listed = run_sdip({"compile", "--passes"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_THAT(listed.out, HasSubstr("mappings depend on the room that whole operands leave"));
  const Ended timed = run_sdip({"compile", "tiny-sd-unet", "--time-passes", "--print-after", "lower"});
  EXPECT_EQ(timed.exit_code, 0);
  EXPECT_EQ(timed.out, run_sdip({"compile", "tiny-sd-unet"}).out);
  for (const char* part : {"tiny-sd-unet after lower:\n0 copy \"/step/double\" (", "place", "total", "100.0 %"})
    EXPECT_THAT(timed.err, HasSubstr(part));
  EXPECT_THAT(run_sdip({"compile", "tiny-sd", "--print-after", "plaice"}).err, HasSubstr("no such pass"));
}

}  // namespace
}  // namespace sdip::test
