// What does the body of POST /sweeps ask for?
#include "core/explore/space/spec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

using nlohmann::json;

const char* const whole = R"({"name": "first", "model": "sd15", "preset": "essay", "machine": {"cores": 8},
    "sampling": "grid", "seed": 1, "axes": [{"parameter": "steps", "values": [10, 20]}],
    "objectives": ["throughput_fps", "energy_j_per_frame"]})";

std::string refusal_with(const char* key, const json& value) {
  json body = json::parse(whole);
  body[key] = value;
  return refusal([&] { spec_from_json(body); });
}

TEST(sweep_spec, reads_every_key_over_the_preset) {
  const SweepSpec spec = spec_from_json(json::parse(whole));
  EXPECT_EQ(spec.name, "first");
  EXPECT_EQ(spec.model, "sd15");
  EXPECT_EQ(spec.space.base.cores, 8);
  EXPECT_EQ(point_count(spec.space), 2);
  EXPECT_EQ(spec.objectives, (std::vector<Objective>{{Metric::throughput_fps, Better::higher},
                                                     {Metric::energy_j_per_frame, Better::lower}}));
}

TEST(sweep_spec, fills_what_is_not_given_as_documented) {
  const SweepSpec spec =
      spec_from_json(json::parse(R"({"model": "m", "axes": [{"parameter": "steps", "values": [1]}]})"));
  EXPECT_EQ(spec.name, "m");
  EXPECT_EQ(spec.preset, default_preset);
  EXPECT_EQ(spec_from_json(json::parse(spec_json(spec).dump())).preset, "balanced");
  EXPECT_EQ(spec.objectives,
            (std::vector<Objective>{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}}));
}

TEST(sweep_spec, spelled_out_reads_back_equal) {
  const SweepSpec spec = spec_from_json(json::parse(whole));
  const SweepSpec again = spec_from_json(json::parse(spec_json(spec).dump()));
  EXPECT_EQ(again.space, spec.space);
  EXPECT_EQ(spec_json(again), spec_json(spec));
}

TEST(sweep_spec, keeps_technology_figures_of_the_machine_and_of_axes_to_the_last_bit) {
  json body = json::parse(whole);
  body["machine"]["technology"] = {{"dram.hbm2", 1.0 / 0.3}};
  body["axes"].push_back({{"parameter", "technology.n7.multiply.fp16"}, {"values", {0.1 + 0.2, 0.34, 1}}});
  const SweepSpec spec = spec_from_json(body);
  const SweepSpec again = spec_from_json(json::parse(spec_json(spec).dump()));
  EXPECT_EQ(again.space, spec.space);
  EXPECT_EQ(spec_json(again), spec_json(spec));
  EXPECT_EQ(point_count(spec.space), 6);
  const Machine last = point(again.space, 5);
  ASSERT_EQ(last.technology.figures().size(), 2U);
  EXPECT_EQ(last.technology.figures()[0].value, 1);
  EXPECT_EQ(last.technology.figures()[1].value, 1.0 / 0.3);
  EXPECT_EQ(machine_json(point(spec.space, 0))["technology"]["n7.multiply.fp16"], 0.1 + 0.2);
  EXPECT_TRUE(point(spec.space, 0) == point(again.space, 0));
  EXPECT_FALSE(point(spec.space, 0) == point(spec.space, 1));
}

TEST(sweep_spec, keeps_formats_of_layers_and_refuses_what_is_none_by_its_line) {
  json body = json::parse(whole);
  body["formats"] = "family=linear weights=int4  # thin";
  const SweepSpec spec = spec_from_json(body);
  EXPECT_EQ(spec.formats, "family=linear weights=int4  # thin");
  EXPECT_EQ(spec_from_json(json::parse(spec_json(spec).dump())).formats, spec.formats);
  EXPECT_FALSE(spec_json(spec_from_json(json::parse(whole))).contains("formats"));
  EXPECT_EQ(refusal_with("formats", 3), "value_invalid at /formats");
  EXPECT_EQ(refusal_with("formats", "\nfamily=linear weights=int5"), "formats_invalid at /formats:2");
  EXPECT_EQ(refusal_with("formats", std::string(4097, ' ')), "limit_exceeded at /formats");
}

TEST(sweep_spec, refuses_with_the_place) {
  EXPECT_EQ(refusal([] { spec_from_json(json::parse("[]")); }), "value_invalid at ");
  EXPECT_EQ(refusal([] { spec_from_json(json::parse(R"({"axes": []})")); }), "value_invalid at /model");
  EXPECT_EQ(refusal_with("modell", "x"), "unknown_key at /modell");
  EXPECT_EQ(refusal_with("name", 3), "value_invalid at /name");
  EXPECT_EQ(refusal_with("preset", "esay"), "value_invalid at /preset");
  EXPECT_EQ(refusal_with("machine", {{"cors", 1}}), "unknown_parameter at /machine/cors");
  EXPECT_EQ(refusal_with("objectives", {"speed"}), "unknown_metric at /objectives/0");
  EXPECT_EQ(refusal_with("objectives", {"active_cores"}), "value_invalid at /objectives/0");
  EXPECT_EQ(refusal_with("objectives", {"area_mm2", "area_mm2"}), "value_invalid at /objectives");
  EXPECT_EQ(refusal_with("objectives", json::array()), "value_invalid at /objectives");
}

}  // namespace
}  // namespace sdip
