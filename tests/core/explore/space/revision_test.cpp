// Sweeps made of others: what a revision changes, and what it refuses.
#include "core/explore/space/revision.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

using nlohmann::json;

SweepSpec parent_of(const char* more = "") {
  return spec_from_json(json::parse(R"({"model": "tiny-sd", "name": "first", "constraints": ["area_mm2 <= 100"],
    "axes": [{"parameter": "cores", "values": [1, 2, 4]}, {"parameter": "dram_channels", "values": [2, 4]}])" +
                                    std::string(more) + "}"));
}

SweepSpec revised_by(const SweepSpec& parent, const char* body) {
  return revised(parent, revision_from_json(json::parse(body)));
}

std::string refused(const char* body, const char* more = "") {
  return refusal([&] { revised_by(parent_of(more), body); });
}

TEST(revision, a_clone_is_the_sweep_again_under_a_name_of_its_own) {
  const SweepSpec parent = parent_of();
  EXPECT_EQ(spec_json(revised_by(parent, R"({"kind": "clone"})")), spec_json(parent));
  EXPECT_EQ(spec_json(revised_by(parent, R"({"kind": "retry"})")), spec_json(parent));
  const SweepSpec named = revised_by(parent, R"({"kind": "clone", "name": "second"})");
  EXPECT_EQ(named.name, "second");
  EXPECT_EQ(named.space, parent.space);
}

TEST(revision, values_and_axes_are_added) {
  const SweepSpec more = revised_by(parent_of(), R"({"kind": "extend", "axes": [
    {"parameter": "cores", "min": 2, "max": 8, "factor": 2}, {"parameter": "batch", "values": [2, 4]}]})");
  EXPECT_EQ(more.space.axes[0].values, (std::vector<std::int64_t>{1, 2, 4, 8}));
  ASSERT_EQ(more.space.axes.size(), 3u);
  EXPECT_EQ(more.space.axes[2].values, (std::vector<std::int64_t>{more.space.base.batch, 2, 4}));
  EXPECT_EQ(point_count(more.space), 4 * 2 * 3);
}

TEST(revision, a_sample_is_extended_and_keeps_its_points) {
  for (const char* sampling : {"random", "latin_hypercube", "sobol"}) {
    const std::string drawn = R"(, "sampling": ")" + std::string(sampling) + R"(", "count": 30)";
    const SweepSpec parent = parent_of(drawn.c_str());
    const SweepSpec twice = revised_by(parent, R"({"kind": "extend", "count": 20})");
    const SweepSpec more = revised_by(twice, R"({"kind": "extend", "count": 7})");
    EXPECT_EQ(more.space.draws, (std::vector<std::int64_t>{30, 20, 7}));
    EXPECT_EQ(point_count(more.space), 57);
    for (std::int64_t i = 0; i < 30; ++i) EXPECT_EQ(point(more.space, i), point(parent.space, i)) << sampling << i;
    for (std::int64_t i = 30; i < 50; ++i) EXPECT_EQ(point(more.space, i), point(twice.space, i)) << sampling << i;
    EXPECT_EQ(spec_from_json(json::parse(spec_json(more).dump())).space, more.space);
    // The points of a later draw are spread over the axis as those of the first.
    std::map<std::int64_t, int> drawn_of;
    for (std::int64_t i = 30; i < 50; ++i) ++drawn_of[axis_value(more.space, 1, i)];
    EXPECT_GE(std::min(drawn_of[2], drawn_of[4]), 5) << sampling;
  }
}

TEST(revision, a_space_is_narrowed_to_some_values_and_by_constraints) {
  const SweepSpec less =
      revised_by(parent_of(), R"({"kind": "narrow", "axes": [{"parameter": "cores", "values": [4, 1]}],
                       "constraints": ["cores >= 2"]})");
  EXPECT_EQ(less.space.axes[0].values, (std::vector<std::int64_t>{1, 4}));
  ASSERT_EQ(less.constraints.size(), 2u);
  EXPECT_EQ(less.constraints[1].text, "cores >= 2");
}

TEST(revision, says_what_it_changes) {
  const char* const body =
      R"({"kind":"narrow","axes":[{"parameter":"cores","values":[1]}],"constraints":["cores >= 2"]})";
  EXPECT_EQ(revision_json(revision_from_json(json::parse(body))).dump(), body);
}

TEST(revision, refuses_what_changes_nothing_or_is_not_there) {
  EXPECT_EQ(refused(R"([])"), "value_invalid at ");
  EXPECT_EQ(refused(R"({"kind": "fork"})"), "value_invalid at /kind");
  EXPECT_EQ(refused(R"({"kind": "clone", "count": 3})"), "unknown_key at /count");
  EXPECT_EQ(refused(R"({"kind": "extend"})"), "value_invalid at ");
  EXPECT_EQ(refused(R"({"kind": "narrow", "axes": []})"), "value_invalid at ");
  EXPECT_EQ(refused(R"({"kind": "extend", "axes": [{"parameter": "cores", "values": [2, 1]}]})"),
            "value_invalid at /axes/0/values");
  EXPECT_EQ(refused(R"({"kind": "narrow", "axes": [{"parameter": "cores", "values": [1, 3]}]})"),
            "value_invalid at /axes/0/values");
  EXPECT_EQ(refused(R"({"kind": "narrow", "axes": [{"parameter": "cores", "values": [1, 2, 4]}]})"),
            "value_invalid at /axes/0/values");
  EXPECT_EQ(refused(R"({"kind": "narrow", "axes": [{"parameter": "batch", "values": [1]}]})"),
            "value_invalid at /axes/0/parameter");
  EXPECT_EQ(refused(R"({"kind": "narrow", "axes": [{"parameter": "cores", "values": []}]})"),
            "value_invalid at /axes/0/values");
  EXPECT_EQ(refused(R"({"kind": "extend", "count": 3})"), "value_invalid at /count");
  EXPECT_EQ(refused(R"({"kind": "extend", "count": 0})"), "value_out_of_range at /count");
  const char* const drawn = R"(, "sampling": "random", "count": 9999999)";
  EXPECT_EQ(refused(R"({"kind": "extend", "count": 2})", drawn), "value_out_of_range at /count");
  EXPECT_EQ(refused(R"({"kind": "clone", "name": 7})"), "value_invalid at /name");
}

TEST(draws, are_refused_where_they_are_not_the_count) {
  const auto space = [](const char* more) { return refusal([&] { parent_of(more); }); };
  EXPECT_EQ(space(R"(, "draws": [3])"), "value_invalid at /draws");
  EXPECT_EQ(space(R"(, "sampling": "sobol", "count": 9, "draws": [3])"), "value_conflict at /draws");
  EXPECT_EQ(space(R"(, "sampling": "sobol", "count": 9, "draws": [9, 0])"), "value_out_of_range at /draws/1");
  EXPECT_EQ(space(R"(, "sampling": "sobol", "count": 9, "draws": 9)"), "value_invalid at /draws");
  EXPECT_EQ(space(R"(, "sampling": "sobol", "count": 9, "draws": [4, 5])"), "accepted");
}

}  // namespace
}  // namespace sdip
