// Are searches run, shown, cancelled and begun anew, and do they say what `sdip best` says?
#include <gmock/gmock.h>
#include <signal.h>

#include <set>

#include "core/base/error.h"
#include "core/workload/workload.h"
#include "server/studies/best_json.h"
#include "server/studies/best_steps.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

const std::string short_search =
    R"({"model": "tiny-sd-text", "preset": "edge", "fixed": {"technology_node": "n7", "steps": 4}, "objectives": ["min:area_mm2"],
        "constraints": ["throughput_fps >= 2"], "evaluations": 3000, "validate_seconds": 20, "seed": 7})";
const std::string endless_search =
    R"({"model": "tiny-sd-text", "preset": "edge", "objectives": ["throughput_fps"], "seconds": 3600})";

std::string start(const Site& site, const std::string& body) {
  const Answer answer = site.post("/api/v1/searches", body);
  EXPECT_EQ(answer.status, 202) << answer.body;
  const std::string id = answer.json().at("id").dump();
  EXPECT_EQ(answer.headers.at("location"), "/api/v1/searches/" + id);
  return "/api/v1/searches/" + id;
}

/// Waits until one that runs has evaluated some; returns it.
Json once_it_searches(const Site& site, const std::string& at) {
  Json found;
  for (int i = 0; i < 6000; ++i) {
    found = site.get(at).json();
    if (!found["progress"].is_null() && found["progress"]["evaluated"] > 0) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << at << " evaluated nothing: " << found.dump().substr(0, 500);
  return found;
}

/// What depends on no clock.
Json machines_of(const Json& search) { return search.at("result").at("best"); }

TEST(searches, give_the_best_machine_with_what_is_around_it_validated) {
  const Site site;
  const Json done = site.wait_for(start(site, short_search), "done");
  const Json& result = done.at("result");
  ASSERT_FALSE(result.at("best").empty());
  const Json& best = result["best"][0];
  EXPECT_TRUE(best["keeps_constraints"].get<bool>());
  EXPECT_GE(best["metrics"]["throughput_fps"], 2);
  EXPECT_EQ(best["objectives"]["area_mm2"], best["metrics"]["area_mm2"]);
  EXPECT_EQ(best["settings"]["technology_node"], "n7");
  EXPECT_EQ(result["validation"]["verdict"], "pass");
  EXPECT_EQ(done["summary"]["verdict"], "pass");
  EXPECT_EQ(done["summary"]["objectives"], best["objectives"]);
  EXPECT_EQ(result["around"]["metrics"], best["metrics"]);
  EXPECT_GE(result["evaluated"], 3000);
  double last = std::numeric_limits<double>::infinity();
  for (const Json& one : result["trace"]) {
    EXPECT_LT(one["values"][0].get<double>(), last) << "each better than the one before";
    last = one["values"][0].get<double>();
  }
  EXPECT_EQ(last, best["objectives"]["area_mm2"]);
  for (const Json& step : result["beyond"]) {
    EXPECT_LT(step["value"], best["objectives"]["area_mm2"]);
    EXPECT_TRUE(step["limit"] != "" || !step["broken"].empty() || step["violation"] == 0) << step;
  }
  // The machine is one that can be asked for by its settings.
  const Answer again =
      site.post("/api/v1/analyses",
                Json{{"model", "tiny-sd-text"}, {"preset", "edge"}, {"machine", best["settings"]}}.dump());
  ASSERT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(again.json()["metrics"], best["metrics"]);
}

TEST(searches, of_several_objectives_give_a_front) {
  const Site site;
  const Json done = site.wait_for(
      start(site, R"({"model": "tiny-sd-text", "preset": "edge", "objectives": ["min:area_mm2", "throughput_fps"],
                      "evaluations": 2000, "validate_seconds": 0})"),
      "done");
  const Json& best = done.at("result").at("best");
  ASSERT_GT(best.size(), 1U);
  EXPECT_LE(best.size(), most_listed_machines);
  for (std::size_t i = 0; i < best.size(); ++i)
    for (std::size_t k = 0; k < best.size(); ++k)
      EXPECT_FALSE(best[k]["metrics"]["area_mm2"] < best[i]["metrics"]["area_mm2"] &&
                   best[k]["metrics"]["throughput_fps"] > best[i]["metrics"]["throughput_fps"]);
  EXPECT_TRUE(best[0]["differs"].empty());
  EXPECT_FALSE(best[1]["differs"].empty()) << "from the one before";
  EXPECT_TRUE(done["result"]["beyond"].empty());
  EXPECT_TRUE(done["result"]["validation"].is_null());
}

TEST(searches, begin_where_the_rows_that_are_searched_mend_what_is_fixed_and_are_refused_where_none_does) {
  const Site site;
  const auto body = [](const std::string& fixed) {
    return R"({"model": "tiny-sd-text", "preset": "balanced", "objectives": ["area_mm2"], "evaluations": 300,
               "validate_seconds": 0, "fixed": )" +
           fixed + "}";
  };
  const Json done = site.wait_for(start(site, body(R"({"fusion": "none"})")), "done");
  EXPECT_EQ(done["request"]["fixed"], (Json{{"fusion", "none"}}));
  EXPECT_EQ(done["request"]["machine"]["norm_statistics"], "own_pass") << "the preset's is of fused norms";
  EXPECT_EQ(done["result"]["best"][0]["settings"]["fusion"], "none");
  const Answer refused =
      site.post("/api/v1/searches", body(R"({"fusion": "none", "norm_statistics": "producer"})"));
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.json()["code"], "value_conflict");
}

TEST(searches, vary_a_row_under_a_condition_and_give_it_the_base_elsewhere) {
  const Site site;
  const std::string at = start(
      site,
      R"({"model": "tiny-sd-text", "preset": "edge", "objectives": ["throughput_fps", "area_mm2"], "evaluations": 2000,
                "fixed": {"dies": 1}, "axes": [{"parameter": "dram_channels", "values": [32, 64], "when": "cores > 4"}],
                "validate_seconds": 0})");
  const Json done = site.wait_for(at, "done");
  EXPECT_EQ(done["request"]["axes"][0]["when"], "cores > 4");
  int beyond = 0;
  for (const Json& one : done.at("result").at("best")) {
    const Json& settings = one.at("settings");
    const bool many = settings.contains("cores") && settings["cores"] > 4;
    EXPECT_EQ(settings.contains("dram_channels"), many) << settings;
    beyond += many ? 1 : 0;
  }
  EXPECT_GT(beyond, 0);
}

std::string formats_search(const std::string& limit, const std::string& objective, int evaluations = 1000) {
  return R"({"model": "tiny-sd-text", "preset": "edge", "fixed": {"accumulator_format": "fp32"},
             "axes": [{"parameter": "activation_format", "values": ["fp16", "int8"]}], "objectives": [")" +
         objective + R"("], "constraints": ["throughput_fps >= 2"], "evaluations": )" +
         std::to_string(evaluations) + R"(, "validate_seconds": 0)" + limit + "}";
}

TEST(searches, take_formats_below_8_bits_as_far_as_their_noise_was_measured_once) {
  const Site site;
  const Json narrow =
      site.wait_for(start(site, formats_search(R"(, "sqnr_db": 15)", "min:energy_j_per_frame")), "done");
  const Json &accuracy = narrow["result"]["accuracy"], &settings = narrow["result"]["best"][0]["settings"];
  EXPECT_EQ(accuracy["model"], "tiny-sd-text");
  EXPECT_EQ(accuracy["weights"], "random");
  EXPECT_GT(accuracy["measured"], 5);
  EXPECT_GE(accuracy["sqnr_db"], 15) << "of the machine as it is, whose fusions round elsewhere";
  std::set<std::string> weights;
  double own = 0;
  for (const Json& set : accuracy["sets"]) {
    weights.insert(set["formats"]["weight_format"].get<std::string>());
    bool same = true;
    for (const auto& item : set["formats"].items())
      if (settings.contains(item.key())) same = same && settings[item.key()] == item.value();
    if (same) own = std::max(own, set["sqnr_db"].get<double>());
  }
  EXPECT_TRUE(weights.contains("mxfp6"));
  EXPECT_FALSE(weights.contains("mxfp4")) << "below 15 dB alone";
  EXPECT_GE(own, 15);
  // The same sets for another goal were measured before.
  const Json best = site.wait_for(start(site, formats_search(R"(, "sqnr_db": 15)", "max:sqnr_db", 4000)), "done");
  EXPECT_EQ(best["result"]["accuracy"]["measured"], 0);
  EXPECT_GT(best["result"]["best"][0]["objectives"]["sqnr_db"], 60);
  EXPECT_TRUE(best["result"]["best"][0]["keeps_constraints"].get<bool>());
}

TEST(searches, measure_formats_only_where_they_are_asked_to_and_can) {
  const Site site;
  const Json plain = site.wait_for(start(site, formats_search("", "min:energy_j_per_frame")), "done");
  EXPECT_TRUE(plain["result"]["accuracy"].is_null());
  const auto refused = [&](const std::string& limit, const std::string& objective) {
    return site.post("/api/v1/searches", formats_search(limit, objective)).json().at("code").get<std::string>();
  };
  EXPECT_EQ(refused(R"(, "sqnr_db": "much")", "min:area_mm2"), "value_invalid");
  EXPECT_EQ(refused(R"(, "sqnr_model": "tiny-sd-text")", "min:area_mm2"), "value_invalid");
  EXPECT_EQ(refused("", "sqnr_db"), "value_invalid") << "neither better high nor low by itself";
  const Json large = site.wait_for(
      start(site, R"({"model": "sd15", "objectives": ["min:area_mm2"], "sqnr_db": 20, "evaluations": 100})"),
      "failed");
  EXPECT_EQ(large["error"]["code"], "limit_exceeded");
  const Json none = site.wait_for(start(site, formats_search(R"(, "sqnr_db": 190)", "min:area_mm2")), "failed");
  EXPECT_EQ(none["error"]["code"], "infeasible");
}

TEST(searches, and_screenings_refuse_a_value_twice) {
  const Site site;
  const std::string twice = R"("axes": [{"parameter": "cores", "values": [2, 2]}])";
  for (const std::string& asked :
       {"searches#{\"model\": \"tiny-sd\", \"objectives\": [\"min:area_mm2\"], " + twice + "}",
        "screenings#{\"model\": \"tiny-sd\", " + twice + "}"}) {
    const auto at = asked.find('#');
    const Answer answer = site.post("/api/v1/" + asked.substr(0, at), asked.substr(at + 1));
    EXPECT_EQ(answer.status, 422) << asked;
    EXPECT_EQ(answer.json().value("where", ""), "/axes/0/values") << answer.body;
  }
}

TEST(searches, repeat_by_their_seed_and_say_what_the_command_says) {
  const Site site;
  const std::string first = start(site, short_search), second = start(site, short_search);
  const Json one = site.wait_for(first, "done"), two = site.wait_for(second, "done");
  EXPECT_EQ(machines_of(one), machines_of(two));
  EXPECT_EQ(one["result"]["trace"], two["result"]["trace"]);
  const Ended command = run_sdip({"best", "tiny-sd-text", "--preset", "edge", "--minimize", "area_mm2", "--where",
                                  "throughput_fps >= 2", "--fix", "technology_node=n7", "--fix", "steps=4",
                                  "--evaluations", "3000", "--seed", "7", "--validate-seconds", "0", "--json"});
  EXPECT_EQ(command.exit_code, 0) << command.err;
  const Json said = Json::parse(command.out);
  EXPECT_EQ(said["best"], machines_of(one));
  EXPECT_EQ(said["beyond"], one["result"]["beyond"]);
  EXPECT_EQ(said["bought"], one["result"]["bought"]);
}

TEST(searches, show_how_far_they_are_and_keep_the_best_until_they_are_cancelled) {
  const Site site;
  const std::string running = start(site, endless_search), waiting = start(site, endless_search);
  const Json shown = once_it_searches(site, running);
  EXPECT_EQ(shown["state"], "running");
  EXPECT_EQ(shown["progress"]["doing"], "search");
  EXPECT_EQ(site.get(waiting).json()["state"], "queued") << "one at a time";
  EXPECT_EQ(site.request("DELETE", running).status, 409);
  EXPECT_EQ(site.post(running + "/cancel", "").status, 202);
  const Json ended = site.wait_for(running, "cancelled");
  ASSERT_FALSE(ended["result"].is_null());
  EXPECT_TRUE(ended["result"]["cancelled"].get<bool>());
  EXPECT_FALSE(ended["result"]["best"].empty());
  EXPECT_TRUE(ended["result"]["around"].is_null());
  EXPECT_EQ(site.post(running + "/cancel", "").status, 409);
  once_it_searches(site, waiting);
  EXPECT_EQ(site.post(waiting + "/cancel", "").status, 202);
  site.wait_for(waiting, "cancelled");
  EXPECT_EQ(site.request("DELETE", waiting).status, 204);
  EXPECT_EQ(site.get(waiting).status, 404);
  EXPECT_EQ(site.get("/api/v1/searches").json()["searches"].size(), 1U);
}

Json search_when_done(Service& service, std::int64_t id) {
  for (int i = 0; i < 30'000 && service.store.search(id).state != SweepState::done; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(service.store.search(id).state, SweepState::done);
  return Json::parse(service.store.search_result(id));
}

TEST(searches, that_a_stop_of_the_service_interrupts_begin_anew_and_find_the_same) {
  const Json body = Json::parse(
      R"({"model": "tiny-sd-text", "preset": "edge", "objectives": ["min:area_mm2"], "evaluations": 20000,
          "constraints": ["throughput_fps >= 2"], "validate_seconds": 0})");
  const TemporaryFolder folder, other;
  std::int64_t id = 0;
  {
    Service service(folder.path, SDIP_BINARY);
    id = service.searches.submit(best_request(body));
    for (int i = 0; i < 3000; ++i) {
      const auto progress = service.searches.progress(id);
      if (progress && progress->search.evaluated > 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  {
    const Store store(store_file(folder.path).string());
    EXPECT_EQ(store.search(id).state, SweepState::interrupted);
  }
  Service service(folder.path, SDIP_BINARY), whole(other.path, SDIP_BINARY);
  const Json gone_on = search_when_done(service, id);
  const Json at_once = search_when_done(whole, whole.searches.submit(best_request(body)));
  EXPECT_EQ(gone_on["best"], at_once["best"]);
}

/// A request to a server that runs as a process of its own.
Json asked(int port, const std::string& method, const std::string& path, const std::string& body = "") {
  const std::string head = method + " /api/v1/" + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                           "\r\nConnection: close\r\n";
  const std::string length =
      body.empty() ? ""
                   : "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  return send_bytes(port, head + length + "\r\n" + body).json();
}

/// The port that it says.
int port_of(const std::filesystem::path& folder) {
  const std::string before = "http://127.0.0.1:";
  for (int i = 0; i < 3000; ++i) {
    const std::string said = file_text(folder / "out");
    const auto at = said.find(before);
    if (at != std::string::npos && said.find('\n', at) != std::string::npos)
      return std::stoi(said.substr(at + before.size()));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

TEST(searches, that_a_killed_process_ran_begin_anew_and_find_the_same) {
  const TemporaryFolder folder, other;
  const std::string body = R"({"model": "tiny-sd-text", "preset": "edge", "objectives": ["min:area_mm2"],
      "constraints": ["throughput_fps >= 2"], "islands": 3, "evaluations": 20000, "validate_seconds": 0})";
  const pid_t process = start_sdip({"serve", "--port", "0", "--data", folder / "data"}, folder.path);
  const int port = port_of(folder.path);
  ASSERT_GT(port, 0);
  ASSERT_EQ(asked(port, "POST", "searches", body)["id"], 1);
  Json progress;
  for (int i = 0; i < 3000 && (progress.is_null() || progress["evaluated"] == 0); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    progress = asked(port, "GET", "searches/1")["progress"];
  }
  EXPECT_FALSE(progress.is_null());
  ::kill(process, SIGKILL);
  EXPECT_EQ(wait_for(process, folder.path).exit_code, 128 + SIGKILL);
  Service service(folder.path / "data", SDIP_BINARY), whole(other.path, SDIP_BINARY);
  const Json gone_on = search_when_done(service, 1);
  EXPECT_EQ(gone_on["best"],
            search_when_done(whole, whole.searches.submit(best_request(Json::parse(body))))["best"]);
}

TEST(searches, go_on_where_they_were_kept_and_find_the_same) {
  const Catalog catalog;
  const BestRequest request = best_request(Json::parse(
      R"({"model": "tiny-sd-text", "preset": "edge", "objectives": ["area_mm2", "throughput_fps"], "islands": 2,
          "links": [{"parameter": "dsram_bytes", "formula": "65536 * cores"}], "evaluations": 6000, "validate_seconds": 0})"));
  std::vector<std::string> kept;
  const BestKeeping keeping = {
      {}, [&](const BestState& state) { kept.push_back(best_state_text(request.goal, state)); }, 0};
  const auto machines = [](const BestAnswer& answer) {
    const Json json = Json(best_json(answer));
    return Json{json["best"], json["evaluated"], json["feasible"], json["generations"], json["trace"]};
  };
  const Json once = machines(find_best(catalog, request, 2, nullptr, {}, {}, keeping));
  ASSERT_GT(kept.size(), 4u);
  const BestKeeping again = {best_state_of_text(request.goal, kept[kept.size() / 2]), {}};
  ASSERT_TRUE(again.from);
  std::vector<std::int64_t> generations;
  const auto show = [&](const BestProgress& progress) { generations.push_back(progress.search.generations); };
  EXPECT_EQ(machines(find_best(catalog, request, 2, nullptr, show, {}, again)), once);
  EXPECT_EQ(generations.front(), again.from->search.progress.generations);
  for (const std::string& other :
       {std::string(), std::string("{}"), std::string("[1"), "{\"engine\": 1" + kept[0].substr(1)})
    EXPECT_FALSE(best_state_of_text(request.goal, other)) << other.substr(0, 40);

  // The store keeps it of one that runs, and no longer.
  const TemporaryFolder folder;
  Store store(folder / "s.db");
  SearchRow row;
  row.model = request.model;
  row.request_json = json_text(best_request_json(request));
  const std::int64_t id = store.add_search(row);
  store.keep_search_progress(id, kept[0]);
  EXPECT_EQ(store.search_progress(id), "") << "it does not run yet";
  store.set_search_state(id, SweepState::running);
  store.keep_search_progress(id, kept[0]);
  EXPECT_EQ(store.search_progress(id), kept[0]);
  store.end_search(id, SweepState::done, "{}", "{}");
  EXPECT_EQ(store.search_progress(id), "");
}

TEST(searches, of_an_upload_are_made_apart_and_find_the_same) {
  const Site site;
  ASSERT_EQ(site.put("/api/v1/models/m", write_model("tiny-sd-text", {})).status, 201);
  std::string body = short_search;
  const std::string name = "tiny-sd-text";
  body.replace(body.find(name), name.size(), "m");
  const Json apart = site.wait_for(start(site, body), "done"),
             here = site.wait_for(start(site, short_search), "done");
  EXPECT_EQ(machines_of(apart), machines_of(here));
  EXPECT_EQ(apart["result"]["validation"]["verdict"], "pass");
  body = endless_search;
  body.replace(body.find(name), name.size(), "m");
  const std::string running = start(site, body);
  once_it_searches(site, running);
  EXPECT_EQ(site.post(running + "/cancel", "").status, 202);
  EXPECT_TRUE(site.wait_for(running, "cancelled")["result"].is_null()) << "the child is gone with what it had";
}

TEST(searches, of_a_goal_that_nothing_keeps_say_what_is_nearest) {
  const Site site;
  const Json done =
      site.wait_for(start(site, R"({"model": "tiny-sd-text", "preset": "edge", "objectives": ["min:area_mm2"],
                      "constraints": ["area_mm2 <= 1", "throughput_fps >= 1000000"], "evaluations": 500})"),
                    "done");
  EXPECT_FALSE(done["summary"]["keeps_constraints"].get<bool>());
  ASSERT_EQ(done["result"]["best"].size(), 1U);
  const Json& nearest = done["result"]["best"][0];
  EXPECT_FALSE(nearest["keeps_constraints"].get<bool>());
  Json broken = Json::array();
  if (nearest["metrics"]["area_mm2"] > 1) broken.push_back("area_mm2 <= 1");
  if (nearest["metrics"]["throughput_fps"] < 1000000) broken.push_back("throughput_fps >= 1000000");
  EXPECT_FALSE(broken.empty());
  EXPECT_EQ(nearest["broken"], broken);
  EXPECT_TRUE(done["result"]["around"].is_null());
  EXPECT_TRUE(done["result"]["validation"].is_null());
  EXPECT_TRUE(done["result"]["trace"].empty());
}

TEST(searches, their_request_spelled_out_is_the_same_request) {
  const BestRequest request = best_request(Json::parse(
      R"({"model": "sd15", "machine": {"cores": 3}, "fixed": {"steps": 4, "technology": {"n45.multiply.int8": 0.3}},
          "axes": [{"parameter": "psram_bytes", "values": [1048576, 2097152]}],
          "links": [{"parameter": "psram_port_bits", "formula": "conv_lanes_out * 128"}],
          "metrics": {"e": {"formula": "power_w * latency_s", "unit": "J"}}, "objectives": ["min:e", "max:throughput_fps"],
          "constraints": ["area_mm2 <= 100"], "evaluations": 5, "seed": 9})"));
  const OrderedJson spelled = best_request_json(request);
  EXPECT_EQ(best_request_json(best_request(Json::parse(spelled.dump()))), spelled);
  EXPECT_EQ(spelled["machine"]["cores"], 3);
  EXPECT_EQ(spelled["fixed"]["steps"], 4);
  EXPECT_EQ(spelled["machine"]["psram_port_bits"], 128 * spelled["machine"]["conv_lanes_out"].get<int>());
  EXPECT_EQ(spelled["fixed"]["technology"], (OrderedJson{{"n45.multiply.int8", 0.3}}));
}

TEST(searches, their_progress_is_read_back_as_it_was_written_and_nonsense_is_refused) {
  SearchGoal goal;
  goal.objectives = {{Metric::area_mm2, Better::lower}, {Metric::throughput_fps, Better::higher}};
  BestProgress progress{"search", 1.5, {}, {}};
  progress.search.generations = 3;
  progress.search.evaluated = 40;
  progress.search.best = {50, -2};
  for (std::int64_t i = 0; i < 1000; ++i) {
    progress.search.evaluated = i;
    progress.search.best[0] = 5000 - static_cast<double>(i);
    trace_best(progress.trace, progress.search);
    trace_best(progress.trace, progress.search);
  }
  EXPECT_LE(progress.trace.size(), longest_trace);
  EXPECT_EQ(progress.trace.back().evaluated, 999);
  EXPECT_EQ(progress.trace.front().evaluated, 0);
  const OrderedJson json = best_progress_json(goal, progress);
  EXPECT_EQ(json["best"][1], 2) << "as a value, not as a cost";
  Json back = Json::parse(json.dump());
  EXPECT_EQ(best_progress_json(goal, best_progress_from_json(goal, back)), json);
  back["best"] = {1};
  EXPECT_THROW(best_progress_from_json(goal, back), Error);
  back["best"] = "many";
  EXPECT_THROW(best_progress_from_json(goal, back), std::exception);
}

TEST(best_command, searches_for_a_file_as_for_the_built_in_model_and_says_what_is_in_a_files_way) {
  const TemporaryFolder folder;
  write_file(folder.path / "text.onnx", write_model("tiny-sd-text", {}));
  write_file(folder.path / "nope.onnx", small_onnx("Nope"));
  const auto searched = [&](const std::string& model) {
    return run_sdip({"best", model, "--preset", "edge", "--maximize", "throughput_fps", "--where", "area_mm2 <= 60",
                     "--evaluations", "1000", "--json"});
  };
  const Ended file = searched(folder / "text.onnx"), built_in = searched("tiny-sd-text");
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_EQ(Json::parse(file.out)["best"], Json::parse(built_in.out)["best"]);
  EXPECT_EQ(Json::parse(file.out)["validation"]["verdict"], "pass");
  const Ended refused = searched(folder / "nope.onnx");
  EXPECT_EQ(refused.exit_code, 1) << refused.out;
  EXPECT_THAT(refused.err, testing::StartsWith("sdip: unknown_operator: "));
}

TEST(searches, rows_are_listed_with_their_values) {
  const Site site;
  const Json rows = site.get("/api/v1/searched-rows").json()["rows"];
  ASSERT_EQ(rows.size(), searched_rows().size());
  for (const Json& row : rows) {
    EXPECT_GE(row["values"].size(), 2U) << row;
    EXPECT_NE(find_parameter(row["parameter"].get<std::string>()), nullptr);
  }
  EXPECT_EQ(rows[0]["parameter"], "cores");
  EXPECT_EQ(rows[0]["values"][0], 1);
  const Ended command = run_sdip({"best", "--rows", "--json"});
  EXPECT_EQ(Json::parse(command.out)["rows"], rows);
  const auto has = [](const std::string& text) { return testing::HasSubstr(text); };
  EXPECT_THAT(command.out, testing::Not(has("nf4")));
  EXPECT_THAT(run_sdip({"best", "--rows", "--sqnr-db", "12"}).out, has("nf4"));
}

TEST(searches, say_the_command_that_says_everything_of_their_answer) {
  const Ended found = run_sdip({"best", "tiny-sd-text", "--minimize", "area_mm2", "--evaluations", "50",
                                "--validate-seconds", "0", "--set", "technology.dram.hbm3=9"});
  const std::size_t from = found.out.find("sdip analyze ");
  ASSERT_NE(from, std::string::npos) << found.out << found.err;
  const std::string command = found.out.substr(from, found.out.find('\n', from) - from);
  EXPECT_THAT(command, testing::HasSubstr(" technology.dram.hbm3=9 "));
  EXPECT_THAT(command, testing::EndsWith(" --explain"));
}

}  // namespace
}  // namespace sdip::test
