// Are answers of parts of a search made into the best of all, the same each time, and others refused?
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "server/studies/best_merge.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

const Catalog& built_in() {
  static const Catalog catalog;
  return catalog;
}

BestRequest asked(const std::string& objectives, const std::string& more = "") {
  return best_request(
      Json::parse(R"({"model": "tiny-sd-text", "preset": "edge", "constraints": ["throughput_fps >= 2"],
      "evaluations": 1000, "validate_seconds": 0, "seed": 7, "objectives": )" +
                  objectives + more + "}"));
}

PartAnswer answer_of_part(BestRequest request, std::int64_t part, std::int64_t parts) {
  request.part = {part, parts};
  return {"part-" + std::to_string(part), Json(best_json(find_best(built_in(), request, 1)))};
}

std::vector<PartAnswer> three_parts(const std::string& objectives) {
  std::vector<PartAnswer> parts;
  for (std::int64_t k = 1; k <= 3; ++k) parts.push_back(answer_of_part(asked(objectives), k, 3));
  return parts;
}

std::string refusal_of(std::span<const PartAnswer> parts) {
  try {
    merged_best(built_in(), parts);
  } catch (const Error& error) {
    return error.code + " at " + error.where;
  }
  return "";
}

TEST(parts_of_a_search, are_independent_and_the_first_is_the_plain_search) {
  const std::string least = R"(["min:area_mm2"])";
  const Json plain = Json(best_json(find_best(built_in(), asked(least), 2)));
  EXPECT_FALSE(plain["request"].contains("part"));
  const std::vector<PartAnswer> parts = three_parts(least);
  EXPECT_EQ(parts[0].json["best"], plain["best"]);
  EXPECT_EQ(parts[1].json["request"]["part"], "2/3");
  EXPECT_NE(parts[1].json["best"], plain["best"]);
  EXPECT_NE(parts[2].json["best"], parts[1].json["best"]);
  EXPECT_EQ(answer_of_part(asked(least), 2, 3).json["best"], parts[1].json["best"]) << "the same again";
  EXPECT_TRUE(parts[0].json["around"].is_null());
  EXPECT_TRUE(parts[0].json["validation"].is_null());
}

TEST(parts_of_a_search, merge_into_the_best_of_all_with_what_is_around_it) {
  std::vector<PartAnswer> parts = three_parts(R"(["min:area_mm2"])");
  const BestAnswer merged = merged_best(built_in(), parts);
  double least = std::numeric_limits<double>::infinity();
  std::int64_t evaluated = 0;
  for (const PartAnswer& part : parts) {
    least = std::min(least, part.json["best"][0]["objectives"]["area_mm2"].get<double>());
    evaluated += part.json["evaluated"].get<std::int64_t>();
  }
  const Json json = Json(best_json(merged));
  EXPECT_EQ(json["best"][0]["objectives"]["area_mm2"], least);
  EXPECT_EQ(json["evaluated"], evaluated);
  EXPECT_FALSE(json["request"].contains("part"));
  EXPECT_EQ(json["around"]["metrics"], json["best"][0]["metrics"]) << "evaluated again, to the bit";
  EXPECT_EQ(missing_parts(parts), "");
  // A part that is there twice, and parts in another order, change nothing.
  parts.push_back(parts[1]);
  std::swap(parts[0], parts[2]);
  const Json again = Json(best_json(merged_best(built_in(), parts)));
  EXPECT_EQ(again["best"], json["best"]);
  EXPECT_EQ(again["evaluated"], json["evaluated"]);
  EXPECT_EQ(missing_parts(std::span(parts).subspan(3)), "1, 3");
}

TEST(parts_of_a_search, merge_into_the_front_of_all) {
  const std::vector<PartAnswer> parts = three_parts(R"(["min:area_mm2", "throughput_fps"])");
  const BestAnswer merged = merged_best(built_in(), parts);
  const auto costs = [](const Json& one) {
    return std::pair(one["objectives"]["area_mm2"].get<double>(),
                     -one["objectives"]["throughput_fps"].get<double>());
  };
  std::vector<std::pair<double, double>> all, front, found;
  for (const PartAnswer& part : parts)
    for (const Json& one : part.json["best"]) all.push_back(costs(one));
  for (const auto& one : all)
    if (std::ranges::none_of(all, [&](const auto& other) {
          return other.first <= one.first && other.second <= one.second && other != one;
        }))
      front.push_back(one);
  for (const Candidate& one : merged.found.best) found.emplace_back(one.score.costs[0], one.score.costs[1]);
  std::ranges::sort(front);
  front.erase(std::unique(front.begin(), front.end()), front.end());
  std::ranges::sort(found);
  EXPECT_EQ(found, front);
  EXPECT_GT(found.size(), 5u);
}

TEST(parts_of_a_search, of_a_goal_that_nothing_keeps_merge_into_the_nearest) {
  std::vector<PartAnswer> parts;
  for (std::int64_t k = 1; k <= 2; ++k)
    parts.push_back(
        answer_of_part(asked(R"(["min:area_mm2"])", R"(, "metrics": {}, "fixed": {"cores": 1})"), k, 2));
  for (PartAnswer& part : parts) {
    part.json["request"]["constraints"] = {"throughput_fps >= 1e12"};
    for (Json& one : part.json["best"]) one["keeps_constraints"] = false;
  }
  const BestAnswer merged = merged_best(built_in(), parts);
  EXPECT_FALSE(merged.keeps());
  ASSERT_EQ(merged.found.best.size(), 1u);
  EXPECT_TRUE(merged.analyses.empty());
}

TEST(parts_of_a_search, are_refused_where_requests_engines_or_files_differ) {
  const std::vector<PartAnswer> parts = three_parts(R"(["min:area_mm2"])");
  const auto with = [&](const char* key, const Json& value) {
    std::vector<PartAnswer> changed = {parts[0], parts[1]};
    changed[1].json[Json::json_pointer(key)] = value;
    return refusal_of(changed);
  };
  EXPECT_EQ(refusal_of(parts), "");
  EXPECT_EQ(with("/request/seed", 8), "value_conflict at part-2");
  EXPECT_EQ(with("/request/part", "2/4"), "value_conflict at part-2");
  EXPECT_EQ(with("/request/objectives", {"max:throughput_fps"}), "value_conflict at part-2");
  EXPECT_EQ(with("/engine", "another"), "engine_changed at part-2");
  EXPECT_EQ(with("/cancelled", true), "value_invalid at part-2");
  EXPECT_EQ(with("/best/0/metrics", Json::object()), "value_invalid at part-2");
  EXPECT_EQ(with("/request", nullptr), "value_invalid at part-2");
  EXPECT_EQ(with("/request/islands", 0), "value_out_of_range at part-2");
  EXPECT_EQ(refusal_of(std::vector<PartAnswer>{{"x", Json::object()}}), "value_invalid at x");
}

TEST(best_command, searches_in_parts_and_merges_them) {
  const TemporaryFolder folder;
  const std::vector<std::string> goal = {
      "best",          "tiny-sd-text", "--preset",           "edge", "--minimize", "area_mm2",
      "--evaluations", "500",          "--validate-seconds", "0"};
  std::vector<std::string> merge = {"best", "--merge"};
  for (const char* part : {"1/2", "2/2"}) {
    std::vector<std::string> arguments = goal;
    arguments.insert(arguments.end(), {"--part", part, "--json"});
    const Ended ended = run_sdip(arguments);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    merge.push_back(folder / (std::string(1, part[0]) + ".json"));
    write_file(merge.back(), ended.out);
  }
  const Ended merged = run_sdip(merge);
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("the best: area_mm2"));
  EXPECT_EQ(merged.err, "");
  merge.pop_back();
  EXPECT_THAT(run_sdip(merge).err, HasSubstr("parts that none of these answers is: 2"));
  write_file(folder / "none.json", "none");
  EXPECT_THAT(run_sdip({"best", "--merge", folder / "none.json"}).err, HasSubstr("none.json"));
  const Ended wrong = run_sdip({"best", "tiny-sd", "--minimize", "area_mm2", "--part", "3/2"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("value_invalid: --part: 3/2: expected K/N"));
  const Ended measured =
      run_sdip({"best", "tiny-sd", "--minimize", "area_mm2", "--part", "1/2", "--sqnr-db", "12"});
  EXPECT_THAT(measured.err, HasSubstr("value_conflict: /part"));
}

TEST(best_command, says_in_a_sentence_what_it_expects) {
  const auto refused = [](std::vector<std::string> more) {
    more.insert(more.begin(), "best");
    const Ended ended = run_sdip(more);
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_LT(ended.err.size(), 400U) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(refused({"tiny-sd", "--minimize", "area_mm2", "--evaluations", "0"}),
              HasSubstr("expected a whole number of 1 to 1000000000, found '0'"));
  EXPECT_THAT(refused({"tiny-sd"}), HasSubstr("--minimize or --maximize and a metric"));
  EXPECT_THAT(refused({"--minimize", "area_mm2"}), HasSubstr("MODEL: expected a model"));
  EXPECT_THAT(refused({"tiny-sd", "--minimize", "area_mm2", "--for", "5s", "--evaluations", "10"}),
              HasSubstr("--for excludes --evaluations"));
  EXPECT_THAT(refused({"tiny-sd", "--minimize", "area_mm2", "--for", "1.5s"}),
              HasSubstr("1.5s: expected whole seconds, minutes or hours, as 90s, 5m or 1h, up to 24h"));
}

TEST(best_command, says_of_the_nearest_machine_what_it_has_beside_each_condition) {
  const Ended found = run_sdip({"best", "tiny-sd-text", "--preset", "edge", "--minimize", "power_w", "--where",
                                "throughput_fps >= 1e12", "--where", "area_mm2 <= 1e6 * cores", "--evaluations",
                                "300", "--validate-seconds", "0"});
  EXPECT_EQ(found.exit_code, 3) << found.err;
  EXPECT_THAT(found.out,
              testing::ContainsRegex("breaks throughput_fps >= 1e12: throughput_fps [0-9,.]+ frame/s\n"));
  EXPECT_THAT(found.out, testing::ContainsRegex("keeps area_mm2 <= .*: area_mm2 [0-9.]+ mm2, cores [0-9]+\n"));
}

}  // namespace
}  // namespace sdip::test
