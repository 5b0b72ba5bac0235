// Every command of `sdip`: what it prints, its exit code, and how it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/server/running.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Json json_of(const std::vector<std::string>& arguments) {
  const Ended ended = run_sdip(arguments);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return Json::parse(ended.out);
}

void expect_error(const std::vector<std::string>& arguments, const std::string& line) {
  const Ended ended = run_sdip(arguments);
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr(line));
  EXPECT_EQ(ended.out, "");
}

TEST(cli, wrong_usage_ends_with_2_and_help_with_0) {
  EXPECT_EQ(run_sdip({}).exit_code, 2);
  EXPECT_EQ(run_sdip({"nonsense"}).exit_code, 2);
  EXPECT_EQ(run_sdip({"analyze", "tiny-sd", "--nonsense"}).exit_code, 2);
  EXPECT_EQ(run_sdip({"--help"}).exit_code, 0);
  EXPECT_THAT(run_sdip({"--version"}).out, StartsWith("sdip 0."));
}

TEST(cli, tables_are_printed_in_both_forms) {
  EXPECT_THAT(run_sdip({"parameters"}).out, HasSubstr("psram_bytes"));
  EXPECT_EQ(json_of({"parameters", "--group", "cores", "--json"})["parameters"][0]["name"], "cores");
  expect_error({"parameters", "--group", "nope"}, "sdip: value_invalid: --group: ");
  EXPECT_THAT(run_sdip({"metrics"}).out, HasSubstr("throughput_fps"));
  EXPECT_FALSE(json_of({"metrics", "--json"})["metrics"].empty());
  EXPECT_THAT(run_sdip({"presets"}).out, HasSubstr("essay"));
  EXPECT_EQ(json_of({"presets", "--json"})["presets"][0]["machine"].size(),
            json_of({"parameters", "--json"})["parameters"].size());
  EXPECT_EQ(json_of({"openapi"})["openapi"], "3.1.0");
}

TEST(cli, presets_say_how_many_dies_they_are_and_more_than_a_scanner_exposes_is_refused) {
  const auto told = [](const char* preset) { return run_sdip({"analyze", "sd15", "--preset", preset}).out; };
  EXPECT_THAT(told("essay"), HasSubstr("3 dies of "));
  EXPECT_THAT(told("stream"), AllOf(HasSubstr("1 die of 760 mm2"), HasSubstr("1 die of 824 mm2")));
  EXPECT_THAT(told("balanced"), HasSubstr("1 die of 296 mm2"));
  EXPECT_THAT(told("edge"), HasSubstr("1 die of 60.0 mm2"));
  const Ended one = run_sdip({"analyze", "sd15", "--preset", "essay", "--set", "dies=1"});
  EXPECT_EQ(one.exit_code, 3);
  EXPECT_THAT(one.out, HasSubstr("infeasible: the die is 2244.0 mm2, a scanner exposes 858.0 at most"));
}

TEST(cli, a_part_without_fefet_memories_says_that_and_no_other_limit) {
  const Ended ended = run_sdip({"analyze", "tiny-sd", "--preset", "edge", "--set", "technology_node=fpga_vc1902",
                                "--set", "in_memory_weights=fefet"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.out, HasSubstr("infeasible: tiny-sd-text: a part of programmable logic has no FeFET memory"));
  EXPECT_THAT(ended.out, HasSubstr("The machine does not fit its part: no part has FeFET memories"));
  EXPECT_THAT(ended.out, testing::Not(HasSubstr(" limits")));
}

TEST(cli, models_are_listed_shown_and_written) {
  EXPECT_THAT(run_sdip({"model", "list"}).out, HasSubstr("sd15-unet"));
  EXPECT_FALSE(json_of({"model", "list", "--json"})["models"].empty());
  EXPECT_THAT(run_sdip({"model", "show", "tiny-sd"}).out, HasSubstr("tiny-sd-unet (core)"));
  EXPECT_EQ(json_of({"model", "show", "sd15-unet", "--json"})["parameters"], 859520964);
  const TemporaryFolder folder;
  EXPECT_EQ(run_sdip({"model", "write", "tiny-sd-unet", folder / "m.onnx", "--seed", "1"}).exit_code, 0);
  EXPECT_GT(std::filesystem::file_size(folder / "tiny-sd-unet.weights"), 1000U);
  const Json written = json_of({"model", "show", folder / "m.onnx", "--json"});
  const Json built = json_of({"model", "show", "tiny-sd-unet", "--json"});
  EXPECT_EQ(written["macs"], built["macs"]);
  EXPECT_EQ(written["parameters"], built["parameters"]);
}

TEST(cli, analyze_prints_tables_or_the_json_of_the_api) {
  const Ended table = run_sdip({"analyze", "tiny-sd", "--layers", "3", "--top", "2"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* part : {"throughput_fps", "Stages, a pass each", "Latency of one frame",
                           "Layers, in program order", "Slowest layers"})
    EXPECT_THAT(table.out, HasSubstr(part));
  EXPECT_EQ(table.out.find('\x1b'), std::string::npos) << "no colour into a file";
  const Json json = json_of({"analyze", "tiny-sd", "--json", "--set", "cores=2", "--set", "steps=10"});
  EXPECT_EQ(json["machine"]["cores"], 2);
  EXPECT_EQ(json["metrics"]["active_cores"], 2);
  EXPECT_EQ(json["stages"][2]["passes_per_frame"], 10) << "text, context, step";
}

TEST(cli, an_infeasible_point_is_an_answer_with_exit_code_3) {
  const Ended ended = run_sdip({"analyze", "tiny-sd", "--set", "imem_bytes=1024"});
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("infeasible: "));
}

TEST(cli, a_machine_is_preset_then_file_then_changes) {
  const TemporaryFolder folder;
  write_file(folder / "m.json", R"({"cores": 3, "steps": 7})");
  const Json json = json_of(
      {"analyze", "tiny-sd", "--json", "--preset", "edge", "--machine", folder / "m.json", "--set", "steps=9"});
  EXPECT_EQ(json["machine"]["cores"], 3);
  EXPECT_EQ(json["machine"]["steps"], 9);
}

TEST(cli, bad_machines_are_refused_with_their_place) {
  const TemporaryFolder folder;
  expect_error({"analyze", "tiny-sd", "--preset", "nope"}, "sdip: unknown_preset: --preset: ");
  expect_error({"analyze", "tiny-sd", "--set", "coers=3"},
               "sdip: unknown_parameter: --set coers: no such parameter; did you mean cores?");
  expect_error({"analyze", "tiny-sd", "--set", "cores=0"}, "sdip: value_out_of_range: --set cores: ");
  expect_error({"analyze", "tiny-sd", "--set", "cores"}, "sdip: value_invalid: --set cores: ");
  expect_error({"analyze", "tiny-sd", "--machine", folder / "absent.json"}, "sdip: file_not_found: ");
  write_file(folder / "twice.json", R"({"cores": 3, "cores": 4})");
  expect_error({"analyze", "tiny-sd", "--machine", folder / "twice.json"},
               "sdip: json_duplicate_key: " + (folder / "twice.json") + "#/cores: ");
  expect_error({"analyze", "tiny-sd", "--set", "cores=3", "--set", "cores=4"},
               "sdip: value_invalid: --set cores: ");
  write_file(folder / "unknown.json", R"({"coers": 3})");
  expect_error({"analyze", "tiny-sd", "--machine", folder / "unknown.json"}, "sdip: unknown_parameter: ");
}

TEST(cli, bad_models_are_refused_with_a_reason) {
  const TemporaryFolder folder;
  expect_error({"analyze", "sd15-unett"},
               "sdip: unknown_model: /model: no model sd15-unett; did you mean sd15-unet");
  write_file(folder / "text.onnx", "this is not ONNX at all");
  expect_error({"analyze", folder / "text.onnx"}, "sdip: not_onnx: ");
  write_file(folder / "cut.onnx", small_onnx().substr(0, 30));
  expect_error({"analyze", folder / "cut.onnx"}, "sdip: truncated: ");
  write_file(folder / "op.onnx", small_onnx("Frobnicate"));
  expect_error({"analyze", folder / "op.onnx"}, "sdip: unknown_operator: ");
  write_file(folder / "fine.onnx", small_onnx());
  EXPECT_EQ(run_sdip({"analyze", folder / "fine.onnx"}).exit_code, 0);
  expect_error({"analyze", folder / "fine.onnx", "--set", "batch=2"}, "sdip: value_conflict: batch: ");
}

TEST(cli, compare_takes_a_device_of_one_s_own) {
  const TemporaryFolder folder;
  std::ofstream(folder / "own.json")
      << R"({"id": "own", "name": "Our own", "archetype": "roofline", "native_format": "fp16",)"
      << R"("peak": {"name": "peak", "value": 10, "unit": "TFLOP/s", "source": "us", "confidence": "primary"},)"
      << R"("dram_bandwidth": {"name": "DRAM", "value": 100, "unit": "GB/s", "source": "us", "confidence": "primary"},)"
      << R"("figures": [], "fields": [], "measured": [], "notes": []})";
  const Ended ended = run_sdip(
      {"compare", "tiny-sd", "--baselines", "a100", "--device", folder / "own.json", "--format", "markdown"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("| Our own<sup>2</sup> | bound | fp16<sup>f</sup> | 8 |"));
}

TEST(cli, compare_shows_what_is_predicted_measured_and_published) {
  const Ended ended = run_sdip({"compare", "tiny-sd", "--baselines", "tpu_v4,a100", "--presets", "edge"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("predicted"));
  EXPECT_THAT(ended.out, HasSubstr("Measured beside predicted"));
  EXPECT_THAT(ended.out, HasSubstr("source"));
  EXPECT_THAT(ended.out, HasSubstr("Model beside model"));
  EXPECT_THAT(ended.out, HasSubstr("Bound beside bound"));
  EXPECT_EQ(json_of({"compare", "tiny-sd", "--baselines", "a100", "--json"})["rows"].size(), 8U);
  EXPECT_EQ(json_of({"compare", "tiny-sd", "--baselines", "a100", "--batches", "3", "--json"})["rows"].size(), 4U);
  EXPECT_EQ(json_of({"compare", "tiny-sd", "--baselines", "a100", "--node", "n16", "--json"})["node"], "n16");
  for (const char* format : {"csv", "markdown", "latex"}) {
    const Ended table = run_sdip({"compare", "tiny-sd", "--baselines", "a100,imax3", "--format", format});
    EXPECT_EQ(table.exit_code, 0) << table.err;
    EXPECT_THAT(table.out, HasSubstr("NVIDIA A100"));
    EXPECT_THAT(table.out, HasSubstr(std::string_view(format) == "latex" ? "not published" : "unpublished"));
    EXPECT_EQ(table.out.find("\\toprule") != std::string::npos, std::string_view(format) == "latex");
  }
  const TemporaryFolder folder;
  std::ofstream(folder / "own.json") << "{}";
  expect_error({"compare", "tiny-sd", "--device", folder / "own.json"},
               "sdip: device_invalid: " + (folder / "own.json") + "/id: this member is missing");
  expect_error({"compare", "tiny-sd", "--batches", "0"}, "sdip: value_out_of_range: --batches: ");
  expect_error({"compare", "tiny-sd", "--baselines", "a100,a100"},
               "sdip: value_invalid: --baselines a100: this one stands twice");
  expect_error({"compare", "tiny-sd", "--presets", "edge,edge"}, "sdip: value_invalid: --presets edge: ");
  expect_error({"compare", "tiny-sd", "--node", "n6"}, "sdip: value_invalid: --node: no process n6");
  const Ended both = run_sdip({"compare", "tiny-sd", "--json", "--format", "csv"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("--format excludes --json"));
  expect_error({"compare", "tiny-sd", "--baselines", "a1000"},
               "sdip: unknown_baseline: --baselines: no device a1000; did you mean a100");
}

TEST(cli, sweep_prints_the_front_and_exports_every_point) {
  const TemporaryFolder folder;
  const Ended ended =
      run_sdip({"sweep", "tiny-sd", "--axis", "cores=1,2,4", "--axis", "psram_bytes=1048576:8388608:*2", "--axis",
                "steps=10:20:5", "--export", folder / "points.csv"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("36 points"));
  EXPECT_THAT(ended.err, HasSubstr("36 of 36 points"));
  const std::string text = file_text(folder / "points.csv");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 37);
}

TEST(cli, analyze_has_metrics_of_the_user_s_own) {
  const std::vector<std::string> asked = {
      "analyze", "tiny-sd", "--set", "cores=3", "--metric", "twice [cores]=2 * cores", "none=1 / 0"};
  const Ended text = run_sdip(asked);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, testing::ContainsRegex("twice +6 cores +2 \\* cores"));
  EXPECT_THAT(text.out, testing::ContainsRegex("none +- +1 / 0"));
  std::vector<std::string> json = asked;
  json.emplace_back("--json");
  EXPECT_EQ(Json::parse(run_sdip(json).out)["formulas"], Json({{"twice", 6.0}, {"none", nullptr}}));
  expect_error({"analyze", "tiny-sd", "--metric", "cores=1"}, "sdip: value_conflict: --metric: ");
}

TEST(cli, sweep_has_metrics_of_the_user_s_own_also_afterwards) {
  const TemporaryFolder folder;
  const Ended ended = run_sdip({"sweep",
                                "tiny-sd",
                                "--preset",
                                "essay",
                                "--axis",
                                "cores=1,2,4",
                                "--validate-seconds",
                                "0",
                                "--metric",
                                "half [frame/s]=throughput_fps / 2",
                                "spare=if(weight_format == \"int8\", 1, cores * 10)",
                                "--objectives",
                                "max:half",
                                "min:spare",
                                "--constraint",
                                "cores <= 2",
                                "--data",
                                folder / "data",
                                "--export",
                                folder / "points.csv"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("\n +[01] +[12] .*half|half.*\n +[01] +[12] "));
  EXPECT_THAT(ended.out, testing::Not(testing::ContainsRegex("\n +2 +4 "))) << "4 cores break the constraint";
  std::istringstream csv(file_text(folder / "points.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_THAT(line, HasSubstr(",half [frame/s],spare,sqnr_db [dB]"));
  std::getline(csv, line);
  EXPECT_THAT(line, HasSubstr(",10,,,"));
  const Ended exported = run_sdip({"export", "1", "--data", folder / "data", "--metric", "more=half + 1"});
  EXPECT_THAT(exported.err, HasSubstr("sdip: formula_invalid: --metric: more, column 1: ")) << "over metrics alone";
  const Ended after = run_sdip({"export", "1", "--data", folder / "data", "--metric", "thrice=3*cores"});
  EXPECT_THAT(after.out, HasSubstr(",half [frame/s],spare,thrice,sqnr_db [dB]"));
  EXPECT_THAT(after.out, HasSubstr(",40,12,,,\n"));
  expect_error({"sweep", "tiny-sd", "--axis", "cores=1", "--metric", "e=1 +"},
               "sdip: formula_invalid: --metric: e, column 4: ");
  expect_error({"sweep", "tiny-sd", "--axis", "cores=1", "--constraint", "e=1"},
               "sdip: formula_invalid: --constraint: constraint, column 1: ");
  expect_error({"sweep", "tiny-sd", "--axis", "cores=1", "--metric", "e=1", "--objectives", "e"},
               "sdip: value_invalid: /objectives/0: ");
}

TEST(cli, sweep_refuses_bad_axes_and_specs_and_leaves_nothing_behind) {
  const TemporaryFolder folder;
  expect_error({"sweep", "tiny-sd", "--axis", "coers=1"}, "sdip: unknown_parameter: --axis coers: ");
  expect_error({"sweep", "tiny-sd", "--axis", "cores=0,1"}, "sdip: value_out_of_range: --axis cores: ");
  expect_error({"sweep", "tiny-sd", "--axis", "cores=1:x:*2"}, "sdip: value_invalid: --axis cores: ");
  expect_error({"sweep", "--axis", "cores=1"}, "sdip: value_invalid: MODEL: ");
  expect_error({"sweep", "tiny-sd", "--axis", "cores=1", "--axis", "dies=1,2 when die_link_bits > 8", "--axis",
                "die_link_bits=512"},
               "sdip: value_conflict: --axis dies: ");
  expect_error({"screen", "tiny-sd", "--axis", "dies=1,2 when dies > 1"}, "sdip: value_conflict: --axis dies: ");
  expect_error({"best", "tiny-sd", "--minimize", "area_mm2", "--vary", "dies=1,2 when dies > 1"},
               "sdip: value_conflict: --vary dies: ");
  expect_error({"best", "tiny-sd", "--minimize", "area_mm2", "--fix", "technology.n7.multiply"},
               "sdip: value_invalid: --fix technology.n7.multiply: ");
  expect_error({"best", "tiny-sd", "--minimize", "area_mm2", "--fix", "technology.nowhere=1"},
               "sdip: unknown_parameter: --fix technology.nowhere: ");
  expect_error({"sweep", "tiny-sd", "--axis", "cores=1", "--link", "cores=2*dies"},
               "sdip: value_conflict: --link cores: ");
  expect_error({"sweep", "tiny-sd", "--axis", "cores=1", "--objectives", "fps"}, "sdip: unknown_metric: ");
  write_file(folder / "spec.json", R"({"model": "tiny-sd", "axes": [], "extra": 1})");
  expect_error({"sweep", "--spec", folder / "spec.json"}, "sdip: unknown_key: /extra: ");
  write_file(folder / "file", "");
  expect_error({"sweep", "tiny-sd", "--axis", "cores=1", "--data", folder / "file"},
               "sdip: data_folder_unusable: ");
  const Ended no_place =
      run_sdip({"sweep", "tiny-sd", "--axis", "cores=1", "--export", folder / "absent/points.csv"});
  EXPECT_EQ(no_place.exit_code, 1);
  EXPECT_THAT(no_place.err, HasSubstr("sdip: file_unwritable: "));
}

TEST(cli, sweep_takes_formats_of_layers_and_tells_a_bad_rule_by_its_file) {
  const TemporaryFolder folder;
  write_file(folder / "formats", "# thin\nfamily=linear weights=int4 activations=int8\n");
  std::vector<std::string> command = {"sweep", "tiny-sd-text", "--axis", "cores=1,2", "--validate-seconds", "5"};
  const Ended plain = run_sdip(command);
  command.insert(command.end(), {"--formats", folder / "formats"});
  const Ended said = run_sdip(command);
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_THAT(said.out,
              HasSubstr("Layers in formats of their own:\n  family=linear weights=int4 activations=int8\n"));
  EXPECT_THAT(said.out, HasSubstr("Front validated: pass"));
  EXPECT_NE(said.out.substr(0, said.out.find("Layers")), plain.out.substr(0, plain.out.find("\nFront")));
  write_file(folder / "formats", "\nfamily=linear weights=int5\n");
  expect_error(command, "sdip: formats_invalid: " + (folder / "formats") + ":2: ");
  write_file(folder / "formats", "\"nowhere\" weights=int4\n");
  expect_error(command, "sdip: format_unmatched: " + (folder / "formats") + ":1: ");
}

TEST(cli, export_reads_what_sweep_kept) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_sdip({"sweep", "tiny-sd", "--axis", "cores=1,2", "--data", folder / "data"}).exit_code, 0);
  EXPECT_THAT(run_sdip({"export", "1", "--data", folder / "data"}).out, StartsWith("index,feasible,reason,cores"));
  EXPECT_EQ(
      run_sdip({"export", "1", "--data", folder / "data", "--format", "ndjson", "-o", folder / "p"}).exit_code, 0);
  EXPECT_THAT(file_text(folder / "p"), StartsWith("{\"index\":0,"));
  expect_error({"export", "7", "--data", folder / "data"}, "sdip: not_found: ");
  expect_error({"export", "1", "--data", folder / "nowhere"}, "sdip: file_not_found: ");
  expect_error({"export", "1", "--data", folder / "data", "--format", "xls"}, "sdip: value_invalid: --format: ");
}

TEST(cli, a_file_can_be_swept_and_stays_in_the_data_folder) {
  const TemporaryFolder folder;
  write_file(folder / "my net.onnx", small_onnx());
  const Ended ended = run_sdip({"sweep", folder / "my net.onnx", "--axis", "cores=1,2", "--data", folder / "data"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Sweep 1 of my-net"));
}

TEST(cli, bench_of_the_search_says_each_run_as_it_ends_and_its_counts) {
  const Ended ended = run_sdip({"bench", "--search", "whole", "--runs", "1", "--run-evaluations", "200", "--seeds",
                                "1", "--evaluations", "100", "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* line : {"1 of 3: ", "2 of 3: ", "3 of 3: ", "search of 200 machines, seed 1001: ",
                           "search of 100 machines, seed 1: ", "draw of 100 machines, seed 1: "})
    EXPECT_THAT(ended.err, HasSubstr(line));
  const Json whole = Json::parse(ended.out)[0];
  EXPECT_EQ(whole["runs"], 1);
  EXPECT_EQ(whole["seeds"], 1);
  EXPECT_EQ(whole["search"]["all"].size(), 1u);
}

}  // namespace
}  // namespace sdip::test
