// Are validations run, kept, cancelled and told, and are fronts validated by themselves?
#include "server/studies/validation.h"

#include <gmock/gmock.h>

#include "server/jobs/validate_front.h"
#include "server/studies/validation_json.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

/// A validation of one stage of two instructions, equal on both sides.
Validation small_validation() {
  Validation validation;
  validation.model = "net";
  StageCounters& stage = validation.counters.emplace_back();
  stage.stage = "net";
  stage.instructions = stage.classes = stage.classes_compared = 2;
  stage.compared = {0, 1};
  stage.layers = {"/a", "/b"};
  stage.mnemonics = {"conv2d", "relu"};
  stage.values = 34;
  ComparedPass& pass = stage.passes.emplace_back();
  pass.totals.resize(counter_rows().size());
  pass.counters.resize(2 * counter_rows().size());
  return validation;
}

void make_differ(Validation& validation) {
  StageCounters& stage = validation.counters[0];
  stage.differences = 1;
  stage.first = CounterDifference{"net", 0, 1, "/b", "psram_read_beats", {10, 11}};
}

TEST(validation, that_differs_has_not_passed_and_says_where) {
  Validation validation = small_validation();
  EXPECT_EQ(verdict_of(validation), Verdict::pass);
  EXPECT_TRUE(first_difference_json(validation).is_null());
  make_differ(validation);
  EXPECT_EQ(verdict_of(validation), Verdict::differs);
  const OrderedJson whole = validation_json(validation);
  EXPECT_FALSE(whole["passed"].get<bool>());
  EXPECT_EQ(whole["coverage"]["differences"], 1);
  const OrderedJson& first = whole["first_difference"];
  EXPECT_EQ(first["layer"], "/b");
  EXPECT_EQ(first["what"], "psram_read_beats");
  EXPECT_EQ(first["estimated"], 10);
  EXPECT_EQ(first["executed"], 11);
  EXPECT_EQ(whole["stages"][0]["passes"][0]["instructions_executed"].size(), 2U);
}

TEST(validation, whose_layer_reads_what_is_not_there_has_not_passed_and_an_overflow_has) {
  Validation validation = small_validation();
  StageTensors& tensors = validation.tensors.emplace_back();
  tensors.stage = "net";
  tensors.classes = tensors.compared = 1;
  LayerTensors& layer = tensors.layers.emplace_back();
  layer.layer = "/a";
  layer.overflows = true;
  layer.result.differing = 3;
  layer.result.first = TensorDifference{0, 1.0, 2.0};
  tensors.overflows = 1;
  EXPECT_EQ(verdict_of(validation), Verdict::pass);
  EXPECT_TRUE(first_difference_json(validation).is_null());
  layer.overflows = false;
  layer.failure = "reads element 0 at address 4: it was never written";
  tensors.differences = 1;
  EXPECT_EQ(verdict_of(validation), Verdict::differs);
  EXPECT_EQ(first_difference_json(validation)["kind"], "execution");
}

TEST(validation, in_which_nothing_was_compared_has_not_passed) {
  Validation impossible;
  impossible.feasible = false;
  const OrderedJson infeasible = validation_summary_json(impossible);
  EXPECT_EQ(infeasible["verdict"], "not_compared");
  EXPECT_EQ(infeasible["passed"], false);
  Validation late = small_validation();
  late.counters = {left_out(CompiledStage{}, "out of time")};
  EXPECT_EQ(verdict_of(late), Verdict::not_compared);
  EXPECT_EQ(validation_json(late)["passed"], false);
  late.tensors.resize(1);  // its layers did not fit, either
  EXPECT_EQ(verdict_of(late), Verdict::not_compared);
  late.tensors[0].compared = 1;
  EXPECT_EQ(verdict_of(late), Verdict::pass);
}

TEST(validation, of_a_point_that_was_not_stepped_is_none_though_its_program_was_executed) {
  FrontValidation front;
  front.points.resize(2);
  for (FrontPoint& point : front.points) {
    CompiledStage stage;
    stage.program.instructions.resize(20);
    stage.program.classes.resize(7);
    point.validation.counters = {left_out(stage, "out of time")};
    point.validation.tensors.resize(1);
    point.validation.tensors[0].compared = 3;
  }
  const OrderedJson none = front_validation_json(front)["points"][0];
  EXPECT_EQ(none["verdict"], "not_compared");
  EXPECT_EQ(none["passed"], false);
  EXPECT_EQ(none["coverage"]["instructions"], 20);
  EXPECT_EQ(none["coverage"]["classes"], 7);
  EXPECT_EQ(none["coverage"]["classes_executed"], 3);
  EXPECT_EQ(front_summary_json(front)["verdict"], "not_compared");
  EXPECT_EQ(front_summary_json(front)["passed"], false);
  front.points[0].validation = small_validation();
  EXPECT_EQ(front_summary_json(front)["verdict"], "pass");
  front.points[1].validation.tensors[0].differences = 1;  // of the program, which is this point's, too
  EXPECT_EQ(front_summary_json(front)["verdict"], "differs");
}

TEST(validation, of_a_front_counts_what_was_covered_and_names_the_point_that_differs) {
  FrontValidation front;
  front.budget_s = 60;
  front.points.resize(3);
  for (std::size_t i = 0; i < 3; ++i) front.points[i].index = static_cast<std::int64_t>(10 + i);
  front.points[0].validation = small_validation();
  front.points[1].validation = small_validation();
  make_differ(front.points[1].validation);
  front.points[2].validation = small_validation();
  front.points[2].validation.counters[0].compared = {1};  // of two
  const OrderedJson summary = front_summary_json(front);
  EXPECT_EQ(summary["points"], 3);
  EXPECT_EQ(summary["points_covered"], 2);
  EXPECT_FALSE(summary["passed"].get<bool>());
  EXPECT_EQ(summary["differences"], 1);
  EXPECT_EQ(summary["first_difference"]["point"], 11);
  EXPECT_EQ(front_validation_json(front)["points"][1]["passed"], false);
}

TEST(validation, an_allowance_fits_what_ends_before_it_and_nothing_once_cancelled) {
  std::atomic<bool> cancel = false;
  const Allowance allowance(100, &cancel);
  EXPECT_TRUE(allowance.fits(50));
  EXPECT_FALSE(allowance.fits(101));
  EXPECT_FALSE(allowance.part(0.5).fits(60));
  EXPECT_TRUE(allowance.part(0.5).fits(40));
  cancel = true;
  EXPECT_FALSE(allowance.fits(0));
}

TEST(validation, the_front_of_a_finished_sweep_is_validated_and_stays_so_after_a_restart) {
  const TemporaryFolder folder;
  std::int64_t sweep = 0;
  {
    Service service(folder.path, SDIP_BINARY);
    sweep = service.jobs.submit(spec_from_json(Json::parse(small_sweep)));
    for (int i = 0; i < 6000; ++i) {
      const auto row = service.store.validation_of(sweep);
      if (row && row->state == SweepState::done) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  Service service(folder.path, SDIP_BINARY);
  const auto row = service.store.validation_of(sweep);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->state, SweepState::done);
  const Json summary = Json::parse(row->summary_json);
  EXPECT_EQ(summary["points"], summary["points_covered"]);
  EXPECT_EQ(summary["classes"], summary["classes_executed"]);
  EXPECT_TRUE(summary["passed"].get<bool>());
  EXPECT_GT(summary["values"], 1000);
}

TEST(validation, of_a_front_is_left_out_where_the_sweep_or_the_service_says_so) {
  const TemporaryFolder folder;
  Store store(store_file(folder.path).string());
  const Catalog catalog(UploadedModels{&store, folder.path, SDIP_BINARY, nullptr});
  const char* const text = R"({"model": "tiny-sd", "axes": [{"parameter": "cores", "values": [1, 2]}]})";
  Json body = Json::parse(text);
  const std::int64_t first = add_sweep(store, catalog, spec_from_json(body));
  body["validate_seconds"] = 0;
  const std::int64_t second = add_sweep(store, catalog, spec_from_json(body));
  for (const std::int64_t id : {first, second}) EXPECT_FALSE(run_sweep(store, catalog, id, {}));
  EXPECT_FALSE(add_front_validation(store, sweep_record(store, first), 0));
  EXPECT_FALSE(add_front_validation(store, sweep_record(store, second), 60));
  EXPECT_TRUE(add_front_validation(store, sweep_record(store, first), 60));
}

TEST(validation, that_runs_is_cancelled) {
  const Site site;
  const std::string running = site.validation(R"({"model": "sd15-unet", "seconds": 600})");
  site.wait_for("/api/v1/validations/" + running, "running");
  EXPECT_EQ(site.request("DELETE", "/api/v1/validations/" + running).status, 409);
  EXPECT_EQ(site.post("/api/v1/validations/" + running + "/cancel", "").status, 202);
  site.wait_for("/api/v1/validations/" + running, "cancelled");
}

TEST(validation, of_layers_that_are_not_there_is_refused_before_it_is_a_job) {
  const Site site;
  const Answer layers =
      site.post("/api/v1/validations", R"({"model": "tiny-sd", "layers": ["*conv_in*", "/nope"]})");
  EXPECT_EQ(layers.status, 422);
  EXPECT_EQ(layers.json()["code"], "layer_unmatched");
  EXPECT_EQ(layers.json()["where"], "/layers/1");
  EXPECT_THAT(layers.json()["detail"].get<std::string>(), testing::HasSubstr("'/nope'"));
  const Answer formats =
      site.post("/api/v1/validations", R"({"model": "tiny-sd", "formats": "\"/nope\" weights=int8"})");
  EXPECT_EQ(formats.status, 422);
  EXPECT_EQ(formats.json()["code"], "format_unmatched");
  EXPECT_EQ(site.get("/api/v1/validations").json()["validations"].size(), 0U);
}

TEST(validation, of_a_stage_of_hours_is_cancelled_while_it_is_stepped) {
  const Site site;
  const std::string id = site.validation(
      R"({"model": "sdxl-unet", "machine": {"imem_bytes": 1048576, "dsram_bytes": 65536, "stackram_bytes": 65536,
          "dram_channels": 64, "steps": 20}, "seconds": 3600, "passes": 64, "tensors": false})");
  Json progress;
  for (int i = 0; i < 6000 && (progress.is_null() || progress["done"] == 0); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    progress = site.get("/api/v1/validations/" + id).json()["progress"];
  }
  ASSERT_FALSE(progress.is_null());
  EXPECT_LT(progress["done"], progress["total"]);
  EXPECT_EQ(site.post("/api/v1/validations/" + id + "/cancel", "").status, 202);
  site.wait_for("/api/v1/validations/" + id, "cancelled");
}

TEST(validate_command, ends_with_0_where_all_agrees_and_says_how_much_was_compared) {
  const Ended ended = run_sdip({"validate", "tiny-sd", "--preset", "edge", "--seed", "5"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::HasSubstr("Validation of tiny-sd: pass"));
  EXPECT_THAT(ended.out, testing::HasSubstr("psram_read_beats"));
  EXPECT_THAT(ended.out, testing::HasSubstr("kinds of layer"));
  const Ended one = run_sdip({"validate", "tiny-sd", "--layers", "*conv_in*", "--no-tensors", "--json"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  const Json result = Json::parse(one.out);
  EXPECT_TRUE(result["tensors"].empty());
  EXPECT_LT(result["coverage"]["instructions_compared"], result["coverage"]["instructions"]);
  EXPECT_GT(result["coverage"]["instructions_compared"], 0);
}

TEST(validate_command, ends_with_1_2_or_3_for_input_usage_and_what_does_not_fit) {
  const Ended unmatched = run_sdip({"validate", "tiny-sd", "--layers", "/nope"});
  EXPECT_EQ(unmatched.exit_code, 1);
  EXPECT_THAT(unmatched.err, testing::HasSubstr("sdip: layer_unmatched: /nope"));
  EXPECT_EQ(run_sdip({"validate", "tiny-sd", "--seconds", "0"}).exit_code, 2);
  EXPECT_EQ(run_sdip({"validate"}).exit_code, 2);
  const Ended small = run_sdip({"validate", "tiny-sd", "--set", "dsram_bytes=1024", "--set", "psram_bytes=1024"});
  EXPECT_EQ(small.exit_code, 3) << small.out << small.err;
}

/// A U-Net whose tile operations never fit a second, and whose layers are too large for it.
constexpr const char* far_too_long[] = {"imem_bytes=1048576", "stackram_bytes=65536", "dsram_bytes=65536",
                                        "dram_channels=64"};

TEST(validate_command, that_compares_nothing_says_so_and_does_not_end_with_0) {
  std::vector<std::string> arguments = {"validate", "sdxl-unet", "--seconds", "1", "--no-tensors"};
  for (const char* set : far_too_long) arguments.insert(arguments.end(), {"--set", set});
  const Ended text = run_on_essay(arguments);
  EXPECT_EQ(text.exit_code, 1) << text.err;
  EXPECT_THAT(text.out, testing::HasSubstr("nothing could be compared"));
  arguments.push_back("--json");
  const Json result = Json::parse(run_on_essay(arguments).out);
  EXPECT_EQ(result["verdict"], "not_compared");
  EXPECT_EQ(result["passed"], false);
  EXPECT_GT(result["coverage"]["instructions"], 0);
}

TEST(sweep_command, validates_its_front_and_says_so) {
  const Ended ended = run_sdip({"sweep", "tiny-sd", "--axis", "cores=1,2"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::HasSubstr("Front validated: pass, "));
  const Ended silent = run_sdip({"sweep", "tiny-sd", "--axis", "cores=1,2", "--validate-seconds", "0"});
  EXPECT_THAT(silent.out, testing::Not(testing::HasSubstr("Front validated")));
}

}  // namespace
}  // namespace sdip::test
