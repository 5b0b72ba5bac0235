// Evaluating uploads in a child: the same answers, and every way in which a child can go wrong is an error.
#include "server/io/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "core/base/error.h"
#include "core/workload/workload.h"
#include "server/api/site.h"
#include "server/io/files.h"
#include "server/jobs/evaluations.h"
#include "server/models/model_facts.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

/// Names that make the misbehaving child do what they say.
class Misbehaving {
 public:
  std::filesystem::path child(const std::string& how) const {
    const std::filesystem::path link = folder.path / how;
    if (!std::filesystem::exists(link)) std::filesystem::create_symlink(SDIP_MISBEHAVING_CHILD, link);
    return link;
  }
  std::filesystem::path model() const {
    write_file(folder.path / "m.onnx", small_onnx());
    return folder.path / "m.onnx";
  }
  TemporaryFolder folder;
};

Error error_of(const std::string& how, const ChildLimits& limits = {}) {
  const Misbehaving made;
  ChildTask task;
  task.program = made.child(how);
  task.file = made.model();
  task.label = "m";
  task.limits = limits;
  try {
    answer_of_child(task);
  } catch (const Error& error) {
    return error;
  }
  return {"", "", "no error"};
}

void expect_failure(const std::string& how, const std::string& why, const ChildLimits& limits = {}) {
  const Error error = error_of(how, limits);
  EXPECT_EQ(error.code, "evaluation_failed") << how << ": " << error.what();
  EXPECT_EQ(error.where, "m") << how;
  EXPECT_THAT(error.what(), HasSubstr(why)) << how;
}

TEST(sandbox, a_child_that_spins_meets_the_limit_on_time) { expect_failure("spin", "longer than the time limit"); }

TEST(sandbox, a_child_that_stops_is_killed_at_the_deadline) {
  ChildLimits limits;
  limits.wall_s = 1;
  const auto start = std::chrono::steady_clock::now();
  const Error error = error_of(confines_fully() ? "spin" : "sleep", limits);
  EXPECT_EQ(error.code, "evaluation_failed");
  EXPECT_THAT(error.what(), HasSubstr("longer than the time limit"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

/// A service whose children are this one, and an upload `m` from before.
struct BadChildren {
  explicit BadChildren(const std::string& how) {
    {
      Service good(folder.path, SDIP_BINARY);
      NewFile file(folder.path / "models-new");
      file.write(small_onnx());
      good.catalog.add({Role::network, "m", {}, {}}, file, std::string(64, 'a'));
    }
    service = std::make_unique<Service>(folder.path, made.child(how));
  }
  Misbehaving made;
  TemporaryFolder folder;
  std::unique_ptr<Service> service;
};

Error error_of_analysis(const std::string& how) {
  const BadChildren bad(how);
  try {
    evaluate(bad.service->catalog, "analysis", "m", {{"model", "m"}});
  } catch (const Error& error) {
    return error;
  }
  return {"", "", "no error"};
}

TEST(sandbox, a_child_that_allocates_too_much_meets_the_limit_on_memory) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers reserve terabytes of address space";
  const Error error = error_of_analysis("allocate");
  EXPECT_EQ(error.code, "evaluation_failed");
  EXPECT_THAT(error.what(), HasSubstr("more memory than the limit of 2048 MiB"));
}

TEST(sandbox, a_child_that_asks_the_system_for_anything_else_is_killed) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers make system calls of their own";
  for (const char* how : {"socket", "open", "execute", "fork", "code", "signal", "sleep"})
    expect_failure(how, "a system call that this does not");
}

TEST(sandbox, a_child_that_crashes_is_an_error) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers turn crashes into reports";
  expect_failure("abort", "crashed (signal 6, ABRT)");
  expect_failure("crash", "crashed (signal 11, SEGV)");
  expect_failure("exit", "exit code 3");
}

TEST(sandbox, a_child_that_answers_nonsense_is_an_error) {
  for (const char* how : {"garbage", "lie", "nothing", "twice", "unasked"}) expect_failure(how, "no valid answer");
  ChildLimits limits;
  limits.answer_bytes = 1 << 20;
  expect_failure("flood", "more than 1048576 bytes", limits);
  EXPECT_EQ(error_of_analysis("error").code, "evaluation_failed");
}

TEST(sandbox, facts_that_are_none_are_not_kept) {
  for (const char* how : {"answer", "deep", "error"}) {
    const BadChildren bad(how);
    NewFile file(bad.folder.path / "other");
    file.write(small_onnx());
    try {
      bad.service->catalog.add({Role::network, "other", {}, {}}, file, std::string(64, 'b'));
      ADD_FAILURE() << how;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "import_failed") << how << ": " << error.what();
    }
    EXPECT_EQ(bad.service->store.models().size(), 1U);
  }
}

TEST(sandbox, a_program_that_is_not_there_is_no_fault_of_the_model) {
  const Misbehaving made;
  ChildTask task;
  task.program = "/nowhere/sdip";
  task.file = made.model();
  try {
    answer_of_child(task);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "sandbox_unavailable");
    EXPECT_EQ(status_of(error.code), 500);
  }
}

TEST(sandbox, a_child_is_gone_as_soon_as_nobody_waits_for_it) {
  const Misbehaving made;
  ChildTask task;
  task.program = made.child("spin");
  task.file = made.model();
  const auto start = std::chrono::steady_clock::now();
  task.stop = [&] { return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300); };
  try {
    answer_of_child(task);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "cancelled");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

/// Starts a server over it and asks.
Answer answer_of(Service& service, const std::string& path, const std::string& body) {
  HttpServer server(0, answerer_of(service), {});
  std::thread thread([&] { server.run(); });
  const std::string head = " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                           "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ";
  const Answer answer =
      send_bytes(server.port(), "POST " + path + head + std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_EQ(send_bytes(server.port(), "GET /healthz" + head + "0\r\n\r\n").status, 200) << "the server lives";
  server.stop();
  thread.join();
  return answer;
}

TEST(sandbox, an_evaluation_that_dies_is_one_failed_request) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers turn crashes into reports";
  const BadChildren bad("crash");
  for (const char* path :
       {"analyses", "memory-views", "explanations", "sensitivities", "screenings", "comparisons", "accuracies"}) {
    const Answer answer = answer_of(*bad.service, "/api/v1/" + std::string(path), R"({"model": "m"})");
    EXPECT_EQ(answer.status, 422) << path;
    EXPECT_EQ(answer.json().at("code"), "evaluation_failed") << path;
    EXPECT_THAT(answer.json().at("detail").get<std::string>(), HasSubstr("crashed (signal 11, SEGV)")) << path;
  }
  EXPECT_EQ(answer_of(*bad.service, "/api/v1/analyses", R"({"model": "tiny-sd"})").status, 200) << "built in: here";
}

TEST(sandbox, a_job_whose_evaluation_dies_has_failed) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers turn crashes into reports";
  for (const char* how : {"crash", "points"}) {
    BadChildren bad(how);
    Store& store = bad.service->store;
    const auto sweep = bad.service->jobs.submit(
        spec_from_json(Json::parse(R"({"model": "m", "axes": [{"parameter": "cores", "values": [1, 2]}]})")));
    const auto validation = bad.service->validations.submit(validation_request(Json{{"model", "m"}}));
    const auto search =
        bad.service->searches.submit(best_request(Json{{"model", "m"}, {"objectives", {"area_mm2"}}}));
    const auto waits = [](SweepState state) { return state == SweepState::queued || state == SweepState::running; };
    for (int i = 0; i < 3000 && (waits(store.sweep(sweep).state) || waits(store.validation(validation).state) ||
                                 waits(store.search(search).state));
         ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(store.sweep(sweep).state, SweepState::failed) << how;
    EXPECT_EQ(store.sweep(sweep).error.value_or(Problem{}).code, "evaluation_failed") << how;
    EXPECT_EQ(store.sweep(sweep).done, 0) << how;
    EXPECT_EQ(store.validation(validation).state, SweepState::failed) << how;
    EXPECT_EQ(store.validation(validation).error.value_or(Problem{}).code, "evaluation_failed") << how;
    EXPECT_EQ(store.search(search).state, SweepState::failed) << how;
    EXPECT_EQ(store.search(search).error.value_or(Problem{}).code, "evaluation_failed") << how;
  }
}

TEST(sandbox, an_upload_whose_reader_dies_is_a_422_and_leaves_nothing_behind) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers turn crashes into reports";
  const Misbehaving made;
  const TemporaryFolder folder;
  Service service(folder.path, made.child("abort"));
  HttpServer server(0, answerer_of(service), {});
  std::thread thread([&] { server.run(); });
  const std::string model = small_onnx();
  const Answer answer = send_bytes(
      server.port(), "PUT /api/v1/models/x HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                         "\r\nConnection: close\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
                         std::to_string(model.size()) + "\r\n\r\n" + model);
  server.stop();
  thread.join();
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.json().at("code"), "import_failed");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path / "models"));
}

/// What is evaluated of a file, apart and here.
struct TwoCatalogs {
  explicit TwoCatalogs(const std::string& bytes) : store(store_file(folder.path).string()) {
    std::filesystem::create_directories(folder.path / "models");
    NewFile file(folder.path / "models" / "upload");
    file.write(bytes);
    apart.add({Role::network, "m", {}, {}}, file, std::string(64, 'a'));
    here.emplace(GivenModel{*apart.uploaded("m"), nullptr});
  }
  TemporaryFolder folder;
  Store store;
  Catalog apart{UploadedModels{&store, folder.path, SDIP_BINARY, nullptr}};
  std::optional<Catalog> here;
};

TEST(sandbox, a_model_has_the_same_facts_and_evaluations_apart_and_here) {
  for (const std::string& bytes : {small_onnx(), write_model("tiny-sd-unet", {}), write_model("resnet50", {})}) {
    const TwoCatalogs both(bytes);
    EXPECT_EQ(json_text(both.apart.facts("m")), json_text(both.here->facts("m")));
    for (const char* name : {"analysis", "memory_view", "explanation", "comparison"})
      EXPECT_EQ(evaluate(both.apart, name, "m", {{"model", "m"}}),
                evaluate(*both.here, name, "m", {{"model", "m"}}))
          << name;
  }
}

TEST(sandbox, an_uploaded_model_is_swept_measured_and_validated_apart) {
  const Site site;
  ASSERT_EQ(site.put("/api/v1/models/m", write_model("tiny-sd-text", {})).status, 201);
  const std::string of_points =
      R"("axes": [{"parameter": "cores", "values": [1, 2, 3]}, {"parameter": "psram_bytes", "min": 1048576, "max": 8388608, "factor": 2}]})";
  const std::string apart = site.sweep(R"({"model": "m", )" + of_points),
                    here = site.sweep(R"({"model": "tiny-sd-text", )" + of_points);
  EXPECT_EQ(site.get("/api/v1/sweeps/" + apart + "/export").body,
            site.get("/api/v1/sweeps/" + here + "/export").body);
  const Json validation = site.wait_for("/api/v1/validations/" + site.validation(R"({"model": "m"})"), "done");
  EXPECT_TRUE(validation.at("summary").at("passed").get<bool>());
  EXPECT_EQ(site.wait_for("/api/v1/sweeps/" + apart + "/validation", "done").at("summary").at("passed"), true);
  ASSERT_EQ(site.post("/api/v1/accuracies", R"({"model": "m", "preset": "edge"})").status, 202);
  const Json accuracy = site.wait_for("/api/v1/accuracies/1", "failed");
  EXPECT_EQ(accuracy.at("error").at("code"), "weights_absent") << "the file has none";
}

TEST(sandbox, what_is_in_a_models_way_is_said_by_the_child_that_found_it) {
  const TemporaryFolder folder;
  Store store(store_file(folder.path).string());
  Catalog apart(UploadedModels{&store, folder.path, SDIP_BINARY, nullptr});
  for (const std::string& bytes : {small_onnx("Nope"), std::string("garbage"), std::string()}) {
    NewFile file(folder.path / "upload");
    file.write(bytes);
    const Member member{Role::network, "m", file.path(), {}};
    OrderedJson refused;
    try {
      apart.add(member, file, "", {}, &refused);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      refused.erase("error");
      EXPECT_EQ(json_text(refused), json_text(refused_model(Catalog(FileModels{}), member, error, Asking::query)));
      EXPECT_EQ(refused.contains("survey"), bytes.size() > 10);
    }
  }
}

TEST(sandbox, a_link_is_not_followed) {
  const Misbehaving made;
  const auto link = made.folder.path / "link.onnx";
  std::filesystem::create_symlink(made.model(), link);
  ChildTask task;
  task.program = SDIP_BINARY;
  task.file = link;
  EXPECT_THROW(answer_of_child(task), Error);
}

TEST(sandbox, costs_little_beside_evaluating_a_large_model) {
  const TwoCatalogs both(write_model("sd15-unet", {}));
  const auto best_ms = [](const auto& work) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      work();
      best = std::min(best,
                      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  const double here = best_ms([&] {
    evaluate(Catalog(GivenModel{*both.apart.uploaded("m"), nullptr}), "analysis", "m", {{"model", "m"}});
  });
  const double apart = best_ms([&] { evaluate(both.apart, "analysis", "m", {{"model", "m"}}); });
  std::cout << "SD 1.5 U-Net read, compiled and estimated: " << here << " ms here, " << apart << " ms apart\n";
  EXPECT_LT(apart, 10 * here + 500) << "starting a child and hearing its answer costs milliseconds";
}

}  // namespace
}  // namespace sdip::test
