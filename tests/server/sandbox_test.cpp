// Reading uploads in a child: the same answers, and every way in which a child can go wrong is an error.
#include "server/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "core/base/error.h"
#include "core/graph/serial.h"
#include "core/workload/workload.h"
#include "server/files.h"
#include "server/model_facts.h"
#include "server/read_model.h"
#include "server/site.h"
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
  ImportOptions options;
  options.label = "m";
  try {
    read_model_apart(made.child(how), made.model(), options, limits);
  } catch (const Error& error) {
    return error;
  }
  return {"", "", "no error"};
}

void expect_failure(const std::string& how, const std::string& why, const ChildLimits& limits = {}) {
  const Error error = error_of(how, limits);
  EXPECT_EQ(error.code, "import_failed") << how << ": " << error.what();
  EXPECT_EQ(error.where, "m") << how;
  EXPECT_THAT(error.what(), HasSubstr(why)) << how;
}

TEST(sandbox, a_child_that_spins_meets_the_limit_on_time) { expect_failure("spin", "longer than the time limit"); }

TEST(sandbox, a_child_that_stops_is_killed_at_the_deadline) {
  ChildLimits limits;
  limits.wall_s = 1;
  const auto start = std::chrono::steady_clock::now();
  const Error error = error_of(confines_fully() ? "spin" : "sleep", limits);
  EXPECT_EQ(error.code, "import_failed");
  EXPECT_THAT(error.what(), HasSubstr("longer than the time limit"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(sandbox, a_child_that_allocates_too_much_meets_the_limit_on_memory) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers reserve terabytes of address space";
  expect_failure("allocate", "more memory than the limit");
}

TEST(sandbox, a_child_that_asks_the_system_for_anything_else_is_killed) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers make system calls of their own";
  for (const char* how : {"socket", "open", "execute", "fork", "code", "signal", "sleep"})
    expect_failure(how,
                   how == std::string("sleep") ? "system call" : "a system call that reading a model does not");
}

TEST(sandbox, a_child_that_crashes_is_an_error) {
  if (!confines_fully()) GTEST_SKIP() << "sanitizers turn crashes into reports";
  expect_failure("abort", "crashed (signal 6, ABRT)");
  expect_failure("crash", "crashed (signal 11, SEGV)");
  expect_failure("exit", "exit code 3");
}

TEST(sandbox, a_child_that_answers_nonsense_is_an_error) {
  expect_failure("garbage", "no valid answer");
  expect_failure("lie", "no valid answer");
  expect_failure("nothing", "no valid answer");
  ChildLimits limits;
  limits.answer_bytes = 1 << 20;
  expect_failure("flood", "more than 1048576 bytes", limits);
}

TEST(sandbox, a_program_that_is_not_there_is_no_fault_of_the_model) {
  const Misbehaving made;
  try {
    read_model_apart("/nowhere/sdip", made.model(), {});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "sandbox_unavailable");
    EXPECT_EQ(status_of(error.code), 500);
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

TEST(sandbox, a_model_has_the_same_facts_apart_and_here) {
  const TemporaryFolder folder;
  Store store(store_file(folder.path).string());
  const Catalog apart(UploadedModels{&store, folder.path, SDIP_BINARY, nullptr});
  const Catalog here(FileModels{});
  for (const char* name : {"tiny-sd-unet", "resnet50"}) {
    const auto file = folder.path / (std::string(name) + ".onnx");
    write_file(file, write_model(name, {}));
    const std::vector<Member> members = {{Role::network, name, file, {}}};
    EXPECT_EQ(json_text(model_facts(apart, "m", members)), json_text(model_facts(here, "m", members)));
    const ReadModel one = apart.read(members[0], {}), other = here.read(members[0], {});
    EXPECT_EQ(to_bytes(one.as_written), to_bytes(other.as_written));
    EXPECT_EQ(to_bytes(one.rewritten), to_bytes(other.rewritten));
    EXPECT_EQ(one.rewrites, other.rewrites);
  }
}

TEST(sandbox, what_is_in_a_models_way_is_the_same_apart_and_here) {
  const TemporaryFolder folder;
  Store store(store_file(folder.path).string());
  const Catalog apart(UploadedModels{&store, folder.path, SDIP_BINARY, nullptr});
  const Catalog here(FileModels{});
  const Member member{Role::network, "m", folder.path / "m.onnx", {}};
  const Error error("unknown_operator", "m", "Nope");
  for (const std::string& bytes : {small_onnx("Nope"), std::string("garbage")}) {
    write_file(member.file, bytes);
    const OrderedJson refused = refused_model(apart, member, error);
    EXPECT_EQ(json_text(refused), json_text(refused_model(here, member, error)));
    EXPECT_EQ(refused.contains("survey"), bytes != "garbage");
  }
}

TEST(sandbox, an_error_of_importing_is_the_same_apart_and_here) {
  const Misbehaving made;
  const auto error_with = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      return error.code + "|" + error.where + "|" + error.what();
    }
    return std::string("no error");
  };
  ImportOptions options;
  options.label = "m";
  options.dims = {{"batch", 2}};
  for (const std::string& bytes : {small_onnx("Nope"), small_onnx(), std::string("garbage"), std::string()}) {
    const auto file = made.folder.path / "e.onnx";
    write_file(file, bytes);
    const std::string here = error_with([&] { read_model_here(MappedFile(file).bytes(), options); });
    EXPECT_EQ(error_with([&] { read_model_apart(SDIP_BINARY, file, options); }), here);
    EXPECT_NE(here, "no error");
  }
}

TEST(sandbox, a_survey_comes_from_a_child_too) {
  const Misbehaving made;
  ImportOptions options;
  options.label = "m";
  const ModelSurvey survey = read_survey_apart(made.child("survey"), made.model(), options);
  EXPECT_EQ(survey.nodes, static_cast<std::int64_t>(small_onnx().size()));
  EXPECT_EQ(survey.graph, "m");
  EXPECT_EQ(survey.inputs.at(0).dims, (std::vector<std::string>{"1", "batch"}));
  EXPECT_EQ(survey.operators.at(0).unsupported, "because");
  EXPECT_EQ(survey.operators.at(0).nodes, 3);
  EXPECT_EQ(survey.functions.at(0).calls, 1);
  EXPECT_EQ(survey.domains.at(0).second, 17);
  try {
    read_survey_apart(made.child("garbage"), made.model(), options);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "import_failed");
  }
}

TEST(sandbox, a_link_is_not_followed) {
  const Misbehaving made;
  const auto link = made.folder.path / "link.onnx";
  std::filesystem::create_symlink(made.model(), link);
  EXPECT_THROW(read_model_apart(SDIP_BINARY, link, {}), Error);
}

TEST(sandbox, costs_little_beside_reading_a_large_model) {
  const TemporaryFolder folder;
  const auto file = folder.path / "u.onnx";
  write_file(file, write_model("sd15-unet", {}));
  const auto milliseconds = [](const auto& work) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto start = std::chrono::steady_clock::now();
      work();
      best = std::min(best,
                      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  const double here = milliseconds([&] { read_model_here(MappedFile(file).bytes(), {}); });
  const double apart = milliseconds([&] { read_model_apart(SDIP_BINARY, file, {}); });
  std::cout << "SD 1.5 U-Net read and rewritten: " << here << " ms here, " << apart << " ms apart\n";
  EXPECT_LT(apart, 10 * here + 500) << "starting a child and checking its answer costs milliseconds";
}

}  // namespace
}  // namespace sdip::test
