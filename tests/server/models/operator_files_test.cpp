// Operators of files, from the command line to the child that reads an upload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "server/models/operator_files.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

std::string definition(int element_cycles) {
  return R"({"operators": [{"domain": "com.example", "type": "Silu", "inputs": ["x"],
    "outputs": [{"name": "y", "type": "x", "shape": ["...x.shape"]}],
    "work": {"family": "vector", "row_length": "y.size", "read_elements": ["x.size"], "write_elements": "y.size",
             "element_cycles": )" +
         std::to_string(element_cycles) + "}}]}";
}

const SmallNames in_domain = {"node_1", "x", "y", "com.example"};

TEST(operator_files, a_command_takes_them_and_costs_what_they_say) {
  const TemporaryFolder folder;
  const std::string model = folder / "m.onnx";
  write_file(model, small_onnx("Silu", in_domain));
  EXPECT_THAT(run_sdip({"analyze", model}).err, HasSubstr("unknown_operator"));
  const auto busy_cycles = [&](int element_cycles) {
    write_file(folder.path / "silu.json", definition(element_cycles));
    const Ended ended = run_sdip({"analyze", model, "--operators", folder / "silu.json", "--layers", "--json"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const Json instruction = Json::parse(ended.out).at("stages")[0].at("instructions")[0];
    EXPECT_EQ(instruction.at("op"), "silu");
    return instruction.at("busy_cycles").at("compute").get<std::int64_t>();
  };
  const std::int64_t once = busy_cycles(1);
  EXPECT_GT(once, 0);
  EXPECT_EQ(busy_cycles(7), 7 * once);
  for (const char* command : {"compile", "compare"})
    EXPECT_EQ(run_sdip({command, model, "--operators", folder / "silu.json"}).exit_code, 0) << command;
  EXPECT_EQ(run_sdip({"model", "show", model, "--operators", folder / "silu.json"}).exit_code, 0);
  EXPECT_THAT(run_sdip({"operators", "--operators", folder / "silu.json"}).out, HasSubstr("com.example"));
}

TEST(operator_files, errors_name_file_field_and_position) {
  const TemporaryFolder folder;
  std::string text = definition(1);
  text.replace(text.find("y.size"), 6, "y.sice");
  write_file(folder.path / "silu.json", text);
  const Ended ended = run_sdip({"operators", "--operators", folder / "silu.json"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("silu.json#/operators/0/work/row_length: 'y.sice', character 7"));
  write_file(folder.path / "silu.json", "{");
  EXPECT_THAT(run_sdip({"operators", "--operators", folder / "silu.json"}).err, HasSubstr("silu.json#"));
}

TEST(operator_files, those_of_the_data_folder_serve_uploads_and_are_listed) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "operators");
  write_file(folder.path / "operators" / "silu.json", definition(3));
  Service service(folder.path, SDIP_BINARY);
  const std::string text = small_onnx("Silu", in_domain);
  std::filesystem::create_directories(folder.path / "models");
  NewFile file(folder.path / "models" / "upload");
  file.write(text);
  const Json facts = Json::parse(service.catalog.add({Role::network, "m", {}}, file, std::string(64, 'a')));
  EXPECT_EQ(facts.at("operators")[0].at("type"), "Silu");
  const OrderedJson last = operators_json(service.catalog.operators()).at("operators").back();
  EXPECT_EQ(last.at("domain"), "com.example");
  EXPECT_EQ(last.at("origin"), "file");
}

TEST(operator_files, a_wrong_one_in_the_data_folder_stops_the_start) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "operators");
  write_file(folder.path / "operators" / "bad.json", R"({"operators": [{}]})");
  EXPECT_THROW(Service(folder.path, SDIP_BINARY), Error);
}

}  // namespace
}  // namespace sdip::test
