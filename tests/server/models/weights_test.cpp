// sdip compile --weights: the bytes beside the program, from built-in models and from files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <regex>

#include "core/onnx/import.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

Ended compile_tiny(const std::string& model, const std::string& folder, const std::string& format,
                   const std::string& seed = "1") {
  std::vector<std::string> arguments = {
      "compile", model, "--out", folder, "--weights", "--set", "weight_format=" + format};
  if (!model.ends_with(".onnx")) arguments.insert(arguments.end(), {"--seed", seed});  // a file has its own weights
  return run_sdip(arguments);
}

/// Weights of the U-Net's first convolution, as `sdip model write` writes them.
std::vector<float> first_convolution(const TemporaryFolder& folder) {
  EXPECT_EQ(run_sdip({"model", "write", "tiny-sd-unet", folder / "m.onnx", "--seed", "1"}).exit_code, 0);
  const std::string model = file_text(folder / "m.onnx"), weights = file_text(folder / "tiny-sd-unet.weights");
  const Graph graph = import_onnx(std::as_bytes(std::span(model)));
  for (const Node& node : graph.nodes) {
    if (node.name != "/conv_in/Conv") continue;
    const Value& value = graph.values[static_cast<std::size_t>(node.inputs[1])];
    std::vector<float> floats(static_cast<std::size_t>(element_count(value.operand.shape)));
    std::memcpy(floats.data(), weights.data() + value.bytes->offset, floats.size() * sizeof(float));
    return floats;
  }
  ADD_FAILURE() << "no first convolution";
  return {};
}

/// What follows `key` in the convolution's line.
double field_of_convolution(const std::string& graph, const std::string& key) {
  const auto name = graph.find(" name=\"/conv_in/Conv\"");
  const auto line = graph.rfind('\n', name) + 1;
  return std::stod(graph.substr(graph.find(key, line) + key.size(), 40));
}

struct Files {
  std::string graph, region;  // the program, and .weight from the convolution's bytes on
};
Files files_in(const std::string& folder) {
  Files files{file_text(folder + "/tiny-sd-unet.graph"), file_text(folder + "/tiny-sd-unet.weight")};
  const auto header = files.graph.find(" stored_weight_bytes=") + 21;
  EXPECT_EQ(static_cast<double>(files.region.size()), std::stod(files.graph.substr(header, 20)));
  files.region.erase(0, static_cast<std::size_t>(field_of_convolution(files.graph, "psram@")));
  return files;
}

TEST(compile_weights, a_built_in_model_has_those_that_its_written_file_has) {
  const TemporaryFolder folder;
  const std::vector<float> expected = first_convolution(folder);
  for (const std::string format : {"fp32", "fp16", "int8"})
    ASSERT_EQ(compile_tiny("tiny-sd-unet", folder / format, format).exit_code, 0);
  EXPECT_EQ(std::memcmp(files_in(folder / "fp32").region.data(), expected.data(), expected.size() * 4), 0);
  const Files half = files_in(folder / "fp16"), whole = files_in(folder / "int8");
  const double scale = field_of_convolution(whole.graph, "scale=");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double x = static_cast<double>(expected[i]);
    std::uint16_t code = 0;
    std::memcpy(&code, half.region.data() + 2 * i, 2);
    const double step = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
    const int field = code >> 10 & 31, fraction = code & 1023;
    const double read = std::ldexp(field == 0 ? fraction : fraction + 1024, std::max(field, 1) - 25);
    ASSERT_EQ((code >> 15) != 0 ? -read : read, std::nearbyint(x / step) * step);
    ASSERT_EQ(static_cast<double>(static_cast<signed char>(whole.region[i])),
              std::nearbyint(x / static_cast<double>(static_cast<float>(scale))));
  }
}

std::string varint(std::uint64_t x) {
  std::string text;
  for (; x >= 128; x >>= 7) text += static_cast<char>((x & 127) | 128);
  return text + static_cast<char>(x);
}
std::string number_field(int number, std::uint64_t x) {
  return varint(static_cast<unsigned>(number) << 3) + varint(x);
}
std::string field(int number, const std::string& bytes) {
  return varint(static_cast<unsigned>(number) << 3 | 2U) + varint(bytes.size()) + bytes;
}

/// x [1,64] times w [64,32], whose data are the field `data` of its TensorProto (numbers as in onnx.proto).
std::string model_with_data(std::uint64_t type, const std::string& data) {
  const std::string tensor =
      number_field(1, 64) + number_field(1, 32) + number_field(2, type) + data + field(8, "w");
  const std::string shape = field(1, number_field(1, 1)) + field(1, number_field(1, 64));
  const std::string input = field(1, "x") + field(2, field(1, number_field(1, type) + field(2, shape)));
  const std::string node = field(1, "x") + field(1, "w") + field(2, "y") + field(3, "n") + field(4, "MatMul");
  const std::string graph = field(1, node) + field(2, "g") + field(5, tensor) + field(11, input) +
                            field(12, field(1, "y") + field(2, field(1, number_field(1, type))));
  return number_field(1, 8) + field(7, graph) + field(8, number_field(2, 17));
}

TEST(compile_weights, data_inside_the_model_are_read_raw_packed_or_as_varints) {
  const TemporaryFolder folder;
  std::string floats(2048 * 4, '\0');
  for (std::size_t i = 0; i < 2048; ++i) {
    const float x = static_cast<float>(i) - 1000.5F;
    std::memcpy(floats.data() + 4 * i, &x, 4);
  }
  for (const int number : {9, 4}) {  // raw_data, float_data
    write_file(folder / "m.onnx", model_with_data(1, field(number, floats)));
    const Ended ended = compile_tiny(folder / "m.onnx", folder / "out", "fp32");
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(file_text(folder / "out/m.weight"), floats);
  }
  std::string halves, one_by_one, raw;  // fp16 in int32_data: varints; 128: as many bytes as raw data
  for (int i = 0; i < 2048; ++i) {
    const auto code = static_cast<unsigned>(i % 2 == 0 ? 128 : 0x3c00 + i);
    halves += varint(code);
    one_by_one += number_field(5, code);
    raw += static_cast<char>(code & 255), raw += static_cast<char>(code >> 8);
  }
  const auto weights_of = [&](const std::string& data) {
    write_file(folder / "m.onnx", model_with_data(10, data));
    EXPECT_EQ(compile_tiny(folder / "m.onnx", folder / "out", "fp16").exit_code, 0);
    return file_text(folder / "out/m.weight");
  };
  EXPECT_EQ(weights_of(field(9, raw)), raw);
  EXPECT_EQ(weights_of(field(5, halves)), raw);
  EXPECT_EQ(weights_of(one_by_one), raw);
  write_file(folder / "m.onnx", model_with_data(10, field(5, varint(1)) + field(5, halves.substr(2))));
  EXPECT_THAT(compile_tiny(folder / "m.onnx", folder / "out", "fp32").err, HasSubstr("not_modelled"));
  write_file(folder / "m.onnx", model_with_data(1, field(9, floats.substr(4))));
  EXPECT_THAT(compile_tiny(folder / "m.onnx", folder / "out", "fp32").err, HasSubstr("expected 8192"));
}

TEST(compile_weights, a_program_runs_on_its_weight_file_alone) {
  const TemporaryFolder folder;
  const std::vector<std::string> machine = {"--set", "weight_format=uint8", "--set", "sparsity=skipping",
                                            "--set", "weight_density=0.5",  "--set", "scale_granularity=channel"};
  const auto with_machine = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), machine.begin(), machine.end());
    return run_on_essay(arguments);
  };
  const Ended compiled =
      with_machine({"compile", "tiny-sd-vae-decoder", "--out", folder / "a", "--weights", "--seed", "3"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Ended own = with_machine({"run", "tiny-sd-vae-decoder", "--seed", "3"});
  ASSERT_EQ(own.exit_code, 0) << own.err;
  const std::string name = folder / "a/tiny-sd-vae-decoder";
  const Ended filed =
      with_machine({"run", "--program", name + ".graph", "--weights", name + ".weight", "--seed", "3"});
  ASSERT_EQ(filed.exit_code, 0) << filed.err;
  const std::regex digest("[0-9a-f]{16}");
  std::smatch a, b;
  ASSERT_TRUE(std::regex_search(own.out, a, digest));
  ASSERT_TRUE(std::regex_search(filed.out, b, digest)) << filed.out;
  EXPECT_EQ(a.str(), b.str());
  write_file(folder / "short", file_text(name + ".weight").substr(1));
  EXPECT_THAT(with_machine({"run", "--program", name + ".graph", "--weights", folder / "short"}).err,
              HasSubstr("weight_file_invalid"));
}

TEST(compile_weights, of_layers_in_formats_of_their_own_run_as_the_model_does) {
  const TemporaryFolder folder;
  write_file(folder / "formats", "\"*conv_in*\" weights=fp32\nfamily=conv2d weights=int4\n");
  const auto digest = [](const Ended& ended) {
    std::smatch found;
    EXPECT_TRUE(std::regex_search(ended.out, found, std::regex("[0-9a-f]{16}"))) << ended.out << ended.err;
    return found.str();
  };
  const Ended compiled = run_on_essay({"compile", "tiny-sd-vae-decoder", "--out", folder / "a", "--weights",
                                       "--seed", "3", "--formats", folder / "formats"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const std::string name = folder / "a/tiny-sd-vae-decoder";
  const Ended own = run_on_essay({"run", "tiny-sd-vae-decoder", "--seed", "3", "--formats", folder / "formats"});
  EXPECT_EQ(
      digest(run_on_essay({"run", "--program", name + ".graph", "--weights", name + ".weight", "--seed", "3"})),
      digest(own));
  EXPECT_NE(digest(run_on_essay({"run", "tiny-sd-vae-decoder", "--seed", "3"})), digest(own));
}

TEST(compile_weights, of_a_refused_stage_no_file_of_any_is_left) {
  const TemporaryFolder folder;
  const Ended ended = run_sdip({"compile", "tiny-sd", "--out", folder / "a", "--weights", "--set",
                                "weight_compression=8", "--set", "weight_format=int8"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("not_compressible"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "a"));
}

TEST(compile_weights, a_ratio_that_the_weights_reach_is_said) {
  const TemporaryFolder folder;
  const Ended ended = run_sdip({"compile", "tiny-sd-unet", "--out", folder / "a", "--weights", "--set",
                                "weight_compression=1.01", "--set", "weight_format=fp32"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("shrinks 1."));
}

TEST(compile_weights, of_hard_coded_stages_stand_apart) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_sdip({"compile", "tiny-sd", "--out", folder / "a", "--weights", "--set",
                      "weight_storage=hard_coded", "--set", "hard_coded_part=vae"})
                .exit_code,
            0);
  EXPECT_TRUE(std::filesystem::exists(folder / "a/tiny-sd-vae-decoder.rom"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a/tiny-sd-vae-decoder.weight"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a/tiny-sd-unet.weight"));
}

TEST(compile_weights, a_seed_for_a_file_is_refused) {
  const TemporaryFolder folder;
  const std::string model = folder / "m.onnx";
  ASSERT_EQ(run_sdip({"model", "write", "tiny-sd-vae-decoder", model, "--seed", "1"}).exit_code, 0);
  const Ended ended = run_sdip({"compile", model, "--out", folder / "out", "--weights", "--seed", "2"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("value_conflict: --seed"));
}

TEST(compile_weights, a_seed_gives_the_same_bytes_again_and_another_seed_others) {
  const TemporaryFolder folder;
  for (const auto& [name, seed] : {std::pair{"a", "5"}, {"b", "5"}, {"c", "6"}})
    ASSERT_EQ(compile_tiny("tiny-sd", folder / name, "fp16", seed).exit_code, 0);
  for (const std::string stage : {"tiny-sd-text", "tiny-sd-unet", "tiny-sd-vae-decoder"}) {
    const std::string a = file_text(folder / ("a/" + stage + ".weight"));
    EXPECT_EQ(a, file_text(folder / ("b/" + stage + ".weight")));
    EXPECT_NE(a, file_text(folder / ("c/" + stage + ".weight")));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "a"), {}), 8);
}

TEST(compile_weights, without_the_flag_nothing_changes) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_on_essay({"compile", "tiny-sd-unet", "--out", folder / "a"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "a/tiny-sd-unet.weight"));
  EXPECT_EQ(file_text(folder / "a/tiny-sd-unet.graph"), run_on_essay({"compile", "tiny-sd-unet"}).out);
  EXPECT_EQ(run_on_essay({"compile", "tiny-sd-unet", "--weights"}).exit_code, 2);
}

TEST(compile_weights, a_file_has_its_external_data_beside_it_or_is_refused) {
  const TemporaryFolder folder;
  const std::string data = folder / "tiny-sd-vae-decoder.weights", model = folder / "m.onnx", out = folder / "out";
  ASSERT_EQ(run_sdip({"model", "write", "tiny-sd-vae-decoder", model, "--seed", "1"}).exit_code, 0);
  ASSERT_EQ(compile_tiny("tiny-sd-vae-decoder", folder / "built", "fp16").exit_code, 0);
  ASSERT_EQ(compile_tiny(model, out, "fp16").exit_code, 0);
  EXPECT_EQ(file_text(out + "/m.weight"), file_text(folder / "built/tiny-sd-vae-decoder.weight"));
  const auto expect_refused = [&](const std::string& why) {
    const Ended ended = compile_tiny(model, folder / "refused", "fp16");
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr("weights_absent"));
    EXPECT_THAT(ended.err, HasSubstr(why));
    EXPECT_TRUE(std::filesystem::is_empty(folder / "refused"));
  };
  std::filesystem::rename(data, folder / "elsewhere");
  expect_refused("cannot open");
  std::filesystem::create_symlink("elsewhere", data);
  expect_refused("cannot open");
  std::filesystem::remove(data);
  write_file(data, file_text(folder / "elsewhere").substr(0, 100));
  expect_refused("in a file of 100");
  std::string text = file_text(model);
  const std::string name = "tiny-sd-vae-decoder.weights";
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) text.replace(at, 3, "../");
  write_file(model, text);
  expect_refused("plain name");
}

}  // namespace
}  // namespace sdip::test
