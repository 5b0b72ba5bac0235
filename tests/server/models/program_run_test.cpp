// sdip run --program and memory --program: a program that a person wrote or edited, run, costed and looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "server/io/json_in.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

/// The program of docs/formats.md: y = silu(x W0) W1 + x.
constexpr const char* two_layers =
    "sdip graph 2\n"
    "stage \"two layers\" network\n"
    "machine weight_format=int8 activation_format=int8\n"
    "graph \"two layers\"\n"
    "inputs %x\n"
    "outputs %y\n"
    "value %x input float32[4,16]\n"
    "value %w0 weight float32[16,32]\n"
    "value %w1 weight float32[32,16]\n"
    "node 0 %h = MatMul(%x,%w0)\n"
    "node 1 %s = sdip.Silu(%h)\n"
    "node 2 %p = MatMul(%s,%w1)\n"
    "node 3 %y = Add(%p,%x)\n"
    "instruction 0 matmul+silu dram:%x psram@0 dsram:%s 64 512 nodes=0,1 weights=%w0\n"
    "instruction 1 matmul+add dsram:%s psram@512 dram:%y 128 512 more=dram:%x nodes=2,3 weights=%w1\n";

Ended in_int8(std::vector<std::string> arguments) {
  for (const char* set : {"weight_format=int8", "activation_format=int8"}) {
    arguments.emplace_back("--set");
    arguments.emplace_back(set);
  }
  return run_on_essay(arguments);
}

/// How far the output is from what the graph computes, in percent of its largest.
double percent_off(const Ended& ended) {
  std::smatch found;
  if (!std::regex_search(ended.out, found, std::regex(R"( ([0-9.]+) % )"))) ADD_FAILURE() << ended.out << ended.err;
  return std::stod("0" + found.str(1));
}

/// The digest of the one output.
std::string digest(const Ended& ended) {
  std::smatch found;
  if (!std::regex_search(ended.out, found, std::regex(" [0-9a-f]{16} "))) ADD_FAILURE() << ended.out << ended.err;
  return found.str(0);
}

TEST(program_run, one_written_by_hand_is_assembled_and_runs_on_random_weights_of_a_seed) {
  const TemporaryFolder folder;
  write_file(folder / "two.graph", two_layers);
  ASSERT_EQ(run_sdip({"assemble", folder / "two.graph", "-o", folder / "two.graphb"}).exit_code, 0);
  const Ended text = in_int8({"run", "--program", folder / "two.graph"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_LT(percent_off(text), 1.5) << text.out;  // 8 bits, not the graph itself
  EXPECT_GT(percent_off(text), 0.1) << text.out;
  EXPECT_EQ(in_int8({"run", "--program", folder / "two.graphb"}).out, text.out);
  EXPECT_NE(digest(in_int8({"run", "--program", folder / "two.graph", "--seed", "2"})), digest(text));
  write_file(folder / "x", std::string(4 * 16 * 4, '\0'));
  const Ended zeros = in_int8({"run", "--program", folder / "two.graph", "--input", "x=" + (folder / "x")});
  EXPECT_EQ(percent_off(zeros), 0) << zeros.out;  // silu(0 W0) W1 + 0 = 0, whatever the weights
  EXPECT_EQ(in_int8({"analyze", "--program", folder / "two.graph"}).exit_code, 0);
}

TEST(program_run, one_written_by_hand_runs_on_a_weight_file_alone) {
  const TemporaryFolder folder;
  std::string text = two_layers;
  for (const char* weight : {"weights=%w0", "weights=%w1"})
    text.replace(text.find(weight), 11, std::string(weight) + " scale=0.01");
  write_file(folder / "two.graph", text);
  write_file(folder / "two.weight", std::string(1024, '\1'));
  const std::vector<std::string> command{"run", "--program", folder / "two.graph", "--weights",
                                         folder / "two.weight"};
  const Ended ended = in_int8(command);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::Not(HasSubstr("off by")));
  write_file(folder / "two.weight", std::string(1023, '\1'));
  EXPECT_THAT(in_int8(command).err, HasSubstr("two.weight: "));
  EXPECT_THAT(in_int8(command).err, HasSubstr("sdip: weight_file_invalid: "));
}

TEST(program_run, a_compiled_one_computes_what_its_model_computes_and_so_does_an_edited_one) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_on_essay({"compile", "tiny-sd-unet", "--out", folder / "a"}).exit_code, 0);
  const std::string file = folder / "a/tiny-sd-unet.graph";
  const Ended whole = run_on_essay({"run", "--program", file, "--seed", "3"});
  EXPECT_EQ(whole.out, run_on_essay({"run", "tiny-sd-unet", "--seed", "3"}).out) << whole.err;
  std::string text = file_text(file);
  const std::string before = "tile_rows=8 tile_columns=8 tile_channels=16 ";
  const auto at = text.find(before, text.find("\ninstruction 17 conv2d "));
  ASSERT_NE(at, std::string::npos);
  write_file(folder / "cut.graph", text.replace(at, before.size(), "tile_rows=3 tile_columns=5 tile_channels=7 "));
  const Ended cut = run_on_essay({"run", "--program", folder / "cut.graph", "--seed", "3"});
  EXPECT_EQ(digest(cut), digest(whole));
  EXPECT_THAT(whole.out, HasSubstr(" 423\n"));
  EXPECT_THAT(cut.out, HasSubstr(" 458\n"));  // 3 x 2 x 3 tiles of each of 2 frames, not 1
  const auto cycles = [](const std::string& path) {
    return Json::parse(run_on_essay({"analyze", "--program", path, "--json"}).out)["metrics"]["step_cycles"]
        .get<double>();
  };
  EXPECT_GT(cycles(folder / "cut.graph"), cycles(file));
}

TEST(program_run, its_memory_view_is_its_models) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_on_essay({"compile", "tiny-sd", "--out", folder / "a"}).exit_code, 0);
  std::vector<std::string> command{"memory"};
  for (const char* stage : {"text", "unet", "vae-decoder"}) {
    command.emplace_back("--program");
    command.push_back(folder / ("a/tiny-sd-" + std::string(stage) + ".graph"));
  }
  EXPECT_EQ(run_on_essay(command).out, run_on_essay({"memory", "tiny-sd"}).out);
  command.insert(command.end(), {"--format", "json"});
  const Json program = Json::parse(run_on_essay(command).out);
  EXPECT_EQ(program["stages"], Json::parse(run_on_essay({"memory", "tiny-sd", "--format", "json"}).out)["stages"]);
  EXPECT_EQ(program["stages"].size(), 3U);
  const Ended small =
      run_on_essay({"memory", "--program", folder / "a/tiny-sd-unet.graph", "--set", "dsram_bytes=1024"});
  EXPECT_EQ(small.exit_code, 3);
  EXPECT_THAT(small.err, HasSubstr("needs 4096 B of DSRAM, which has 1024"));
}

TEST(program_run, the_memory_view_of_one_written_by_hand_is_exported) {
  const TemporaryFolder folder;
  write_file(folder / "two.graph", two_layers);
  const Ended view = in_int8({"memory", "--program", folder / "two.graph", "--format", "json"});
  const Json memories = Json::parse(view.out)["stages"][0]["memories"];
  ASSERT_EQ(memories[1]["memory"], "DSRAM1");
  EXPECT_EQ(memories[1]["peak_bytes"], 128);  // 4 x 32 of s
  const Ended trace = in_int8({"memory", "--program", folder / "two.graph", "--format", "chrome"});
  EXPECT_FALSE(Json::parse(trace.out)["traceEvents"].empty());
}

TEST(program_run, options_that_contradict_each_other_are_refused_by_name) {
  const TemporaryFolder folder;
  const std::string file = folder / "two.graph";
  write_file(file, two_layers);
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const Ended ended = run_on_essay(arguments);
    EXPECT_EQ(ended.exit_code, 1);
    return ended.err.substr(0, ended.err.find(": ", ended.err.find(": ", 6) + 2));
  };
  for (const char* command : {"run", "memory", "analyze"}) {
    EXPECT_EQ(refusal({command}), "sdip: value_conflict: --program");
    EXPECT_EQ(refusal({command, "tiny-sd", "--program", file}), "sdip: value_conflict: --program");
    EXPECT_EQ(refusal({command, "--program", file, "--dim", "n=1"}), "sdip: value_conflict: --dim");
    EXPECT_EQ(refusal({command, "--program", file, "--role", "core"}), "sdip: value_conflict: --role");
    EXPECT_EQ(refusal({command, "--program", file}), "sdip: program_mismatch: weight_format");
  }
  for (const char* command : {"run", "memory", "analyze"})
    EXPECT_THAT(run_on_essay({command, file}).err, HasSubstr("this is a program, not a model; expected --program"));
  EXPECT_EQ(refusal({"run", "tiny-sd", "--weights", file}), "sdip: value_conflict: --weights");
  write_file(file, std::string(two_layers).replace(std::string(two_layers).find(" 64 512 "), 8, " "));
  EXPECT_THAT(run_on_essay({"run", "--program", file}).err,
              HasSubstr("two.graph: line 14, column 52: expected src1_size"));
  write_file(file, std::string(100, '\0'));
  EXPECT_THAT(run_on_essay({"run", "--program", file}).err, HasSubstr("this is neither"));
}

}  // namespace
}  // namespace sdip::test
