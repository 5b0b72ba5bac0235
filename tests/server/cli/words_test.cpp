// Words that help: what a user of someone else's export is told, and gives, on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/io/json_in.h"
#include "tests/server/running.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// x [B,3,H,W'] through a Relu; sizes by name.
std::string symbolic_onnx(const std::vector<std::string>& dims) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto& graph = *model.mutable_graph();
  graph.set_name("g");
  for (const char* name : {"x", "y"}) {
    auto* value = name[0] == 'x' ? graph.add_input() : graph.add_output();
    value->set_name(name);
    auto* type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(1);
    for (const std::string& dim : dims) {
      auto* size = type->mutable_shape()->add_dim();
      if (dim.find_first_not_of("0123456789") == std::string::npos)
        size->set_dim_value(std::stoll(dim));
      else
        size->set_dim_param(dim);
    }
  }
  auto* node = graph.add_node();
  node->set_op_type("Relu");
  node->set_name("r");
  node->add_input("x");
  node->add_output("y");
  return model.SerializeAsString();
}

/// y = Relu(x) where sr is 16000, else -x: as Silero VAD asks for its rate.
std::string rate_onnx() {
  onnx::ModelProto model;
  model.ParseFromString(symbolic_onnx({"1", "4"}));
  auto& graph = *model.mutable_graph();
  auto* sr = graph.add_input();
  sr->set_name("sr");
  sr->mutable_type()->mutable_tensor_type()->set_elem_type(7);
  sr->mutable_type()->mutable_tensor_type()->mutable_shape();
  auto* rate = graph.add_initializer();
  rate->set_name("rate");
  rate->set_data_type(7);
  rate->add_int64_data(16000);
  graph.clear_node();
  auto* equal = graph.add_node();
  equal->set_op_type("Equal");
  equal->set_name("same");
  equal->add_input("sr");
  equal->add_input("rate");
  equal->add_output("is_16k");
  auto* node = graph.add_node();
  node->set_op_type("If");
  node->set_name("choose");
  node->add_input("is_16k");
  node->add_output("y");
  for (const auto& [branch, op] : {std::pair{"then_branch", "Relu"}, {"else_branch", "Neg"}}) {
    auto* attribute = node->add_attribute();
    attribute->set_name(branch);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    auto* body = attribute->mutable_g();
    body->set_name(branch);
    auto* inner = body->add_node();
    inner->set_op_type(op);
    inner->set_name(op);
    inner->add_input("x");
    inner->add_output("z");
    auto* result = body->add_output();
    result->set_name("z");
    result->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  }
  return model.SerializeAsString();
}

TEST(words, an_unbound_dimension_is_answered_by_the_rest_of_the_command_which_then_works) {
  const TemporaryFolder folder;
  write_file(folder / "m.onnx", symbolic_onnx({"B", "3", "H", "a width"}));
  const std::string rest = "--dim B=1 --dim H=64 --dim 'a width=64'";
  for (const char* command :
       {"analyze", "run", "validate", "traffic", "tiling", "compile", "accuracy", "memory", "compare"}) {
    const Ended ended = run_sdip({command, folder / "m.onnx"});
    EXPECT_EQ(ended.exit_code, 1) << command;
    EXPECT_THAT(ended.err, HasSubstr("unbound_dimension")) << command;
    EXPECT_THAT(ended.err, HasSubstr(rest)) << command;
  }
  const Ended sweep = run_sdip({"sweep", folder / "m.onnx", "--axis", "cores=1,2"});
  EXPECT_THAT(sweep.err, HasSubstr(rest));
  const Ended shown = run_sdip({"model", "show", folder / "m.onnx"});
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_THAT(shown.out, HasSubstr("Add, with sizes and values of yours: " + rest));
  const Ended some = run_sdip({"analyze", folder / "m.onnx", "--dim", "H=8"});
  EXPECT_THAT(some.err, HasSubstr("--dim B=1 --dim 'a width=64'"));
  EXPECT_THAT(some.err, Not(HasSubstr("--dim H")));
  const Ended whole =
      run_sdip({"analyze", folder / "m.onnx", "--dim", "B=1", "--dim", "H=64", "--dim", "a width=64"});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
}

TEST(words, a_symbolic_first_dimension_is_1_with_a_note_unless_it_is_bound) {
  const TemporaryFolder folder;
  const std::string file = folder / "m.onnx";
  write_file(file, symbolic_onnx({"B", "3", "8", "8"}));
  const std::string note = "m: dimension 'B' of the inputs has no size in the file";
  const Ended text = run_sdip({"analyze", file});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr(note));
  EXPECT_THAT(run_sdip({"analyze", file, "--json"}).out, HasSubstr(note));
  EXPECT_THAT(run_sdip({"compile", file}).err, HasSubstr("sdip: note: " + note));
  const Json facts = Json::parse(run_sdip({"model", "show", file, "--json"}).out);
  EXPECT_EQ(facts["assumed"], Json::parse(R"(["B"])"));
  EXPECT_EQ(facts["inputs"][0]["shape"], Json::parse("[1,3,8,8]"));
  const Ended bound = run_sdip({"analyze", file, "--dim", "B=2"});
  EXPECT_EQ(bound.exit_code, 0) << bound.err;
  EXPECT_THAT(bound.out + bound.err, Not(HasSubstr("has no size in the file")));
}

TEST(words, options_take_several_values_after_one_flag_and_a_model_after_them) {
  const TemporaryFolder folder;
  const std::string file = folder / "m.onnx";
  write_file(file, symbolic_onnx({"B", "3", "H", "W"}));
  const std::string apart =
      run_sdip({"analyze", file, "--dim", "H=8", "--dim", "W=4", "--set", "cores=2", "--set", "steps=3", "--json"})
          .out;
  EXPECT_THAT(apart, HasSubstr("metrics"));
  EXPECT_EQ(run_sdip({"analyze", "--dim", "H=8", "W=4", "--set", "cores=2", "steps=3", file, "--json"}).out, apart);
  EXPECT_EQ(run_sdip({"analyze", file, "--json", "--set", "cores=2", "steps=3", "--dim=H=8", "W=4"}).out, apart);
  const std::string odd = folder / "lr=3.onnx";
  write_file(odd, symbolic_onnx({"B", "3", "H", "W"}));
  EXPECT_EQ(run_sdip({"analyze", "--dim", "H=8", "W=4", odd}).exit_code, 0);
  EXPECT_EQ(run_sdip({"sweep", "--axis", "cores=1,2", "steps=1,2", "tiny-sd", "--json"}).exit_code, 0);
}

TEST(words, a_branch_that_depends_on_an_input_is_decided_by_its_value) {
  const TemporaryFolder folder;
  const std::string file = folder / "vad.onnx";
  write_file(file, rate_onnx());
  const Ended asked = run_sdip({"analyze", file});
  EXPECT_EQ(asked.exit_code, 1);
  EXPECT_THAT(asked.err, HasSubstr("sdip: input_needed: "));
  EXPECT_THAT(asked.err, HasSubstr("the input 'sr' int64[]"));
  EXPECT_THAT(asked.err, HasSubstr("--input sr=VALUE"));
  const auto operators = [&](const std::string& value) {
    const Ended shown = run_sdip({"model", "show", file, "--json", "--input", value});
    EXPECT_EQ(shown.exit_code, 0) << shown.out;
    return Json::parse(shown.out)["operators"][0]["type"];
  };
  EXPECT_EQ(operators("sr=16000"), "Relu");
  EXPECT_EQ(operators("sr=8000"), "Neg");
  for (const char* command :
       {"analyze", "run", "validate", "traffic", "tiling", "compile", "accuracy", "memory", "compare"}) {
    const Ended ended = run_sdip({command, file, "--input", "sr=16000"});
    EXPECT_EQ(ended.exit_code, 0) << command << ended.err;
  }
  EXPECT_EQ(run_sdip({"sweep", file, "--axis", "cores=1,2", "--input", "sr=16000"}).exit_code, 0);
  const auto refused = [&](const std::string& value) { return run_sdip({"analyze", file, "--input", value}).err; };
  EXPECT_THAT(refused("sr=[1,2]"), HasSubstr("sdip: shape_mismatch: "));
  EXPECT_THAT(refused("sr=1.5"), HasSubstr("sdip: value_invalid: "));
  EXPECT_THAT(refused("sr=99999999999999999999"), HasSubstr("sdip: value_out_of_range: "));
  EXPECT_THAT(refused("rate=1"), HasSubstr("sdip: unknown_input: "));
  EXPECT_THAT(refused("rate=1"), HasSubstr("the inputs are: x, sr"));
  EXPECT_THAT(refused("sr=file.npy"), HasSubstr("files are for sdip run"));
  EXPECT_THAT(refused("sr"), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(run_sdip({"analyze", file, "--input", "sr=1", "sr=2"}).err, HasSubstr("given twice"));
  EXPECT_THAT(run_sdip({"analyze", "tiny-sd", "--dim", "B=1"}).err, HasSubstr("sdip: value_conflict: --dim"));
}

TEST(words, an_upload_is_answered_by_the_query_that_is_missing_and_keeps_what_it_is_given) {
  const Site site;
  const Answer asked = site.put("/api/v1/models/vad", rate_onnx());
  EXPECT_EQ(asked.status, 422) << asked.body;
  EXPECT_EQ(asked.json()["code"], "input_needed");
  EXPECT_EQ(asked.json()["give"], "input=sr=VALUE");
  EXPECT_THAT(asked.json()["detail"].get<std::string>(), HasSubstr("add to the query input=sr=VALUE"));
  const Answer kept = site.put("/api/v1/models/vad?input=sr=16000", rate_onnx());
  EXPECT_EQ(kept.status, 201) << kept.body;
  EXPECT_EQ(kept.json()["given"], Json::parse(R"({"sr": "16000"})"));
  EXPECT_EQ(kept.json()["operators"][0]["type"], "Relu");
  EXPECT_EQ(site.get("/api/v1/models/vad").json()["given"], kept.json()["given"]);
  EXPECT_EQ(site.put("/api/v1/models/vad?input=sr=16000", rate_onnx()).status, 201);
  EXPECT_EQ(site.put("/api/v1/models/vad?input=sr=8000", rate_onnx()).status, 409);
  const std::string notes = site.post("/api/v1/analyses", R"({"model": "vad"})").json()["notes"].dump();
  EXPECT_THAT(notes, HasSubstr("input 'sr' is the constant 16000"));
  EXPECT_EQ(site.put("/api/v1/models/a?input=sr", rate_onnx()).json()["code"], "value_invalid");
  EXPECT_EQ(site.put("/api/v1/models/a?input=sr=[1,2]", rate_onnx()).json()["code"], "shape_mismatch");
  EXPECT_EQ(site.put("/api/v1/models/a?input=sr=x", rate_onnx()).json()["code"], "value_invalid");
  EXPECT_EQ(site.put("/api/v1/models/a?input=rr=1", rate_onnx()).json()["code"], "unknown_input");
}

TEST(words, an_upload_takes_its_first_dimension_for_1_and_asks_for_the_others) {
  const Site site;
  const Answer kept = site.put("/api/v1/models/m", symbolic_onnx({"B", "4"}));
  EXPECT_EQ(kept.status, 201) << kept.body;
  EXPECT_EQ(kept.json()["assumed"], Json::parse(R"(["B"])"));
  EXPECT_EQ(kept.json()["dims"], Json::object());
  const std::string notes = site.post("/api/v1/analyses", R"({"model": "m"})").json()["notes"].dump();
  EXPECT_THAT(notes, HasSubstr("m: dimension 'B' of the inputs has no size in the file"));
  const Answer asked = site.put("/api/v1/models/n", symbolic_onnx({"B", "H", "a b"}));
  EXPECT_EQ(asked.status, 422);
  EXPECT_EQ(asked.json()["unbound"], Json::parse(R"(["H", "a b"])"));
  EXPECT_EQ(asked.json()["give"], "dim=B=1&dim=H=64&dim=a%20b=64");
  const std::string query = asked.json()["give"];
  EXPECT_EQ(site.put("/api/v1/models/n?" + query, symbolic_onnx({"B", "H", "a b"})).status, 201);
}

/// A .npy file as numpy 1.24 writes numpy.array([[1, -2, 3.5, -4]], dtype='<f4').
std::string npy_of_four() {
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }";
  text.append(117 - text.size(), ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + "\n" +
         std::string("\0\0\x80\x3f\0\0\0\xc0\0\0\x60\x40\0\0\x80\xc0", 16);
}

TEST(words, tensors_go_in_and_out_of_a_run_as_npy_and_pb) {
  const TemporaryFolder folder;
  const std::string file = folder / "vad.onnx";
  write_file(file, rate_onnx());
  write_file(folder / "x.npy", npy_of_four());
  const std::vector<std::string> formats{"--set", "activation_format=fp32", "weight_format=fp32",
                                         "accumulator_format=fp32"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", file});
    more.insert(more.end(), formats.begin(), formats.end());
    return run_sdip(more);
  };
  const Ended ran = run({"--input", "sr=8000", "x=" + (folder / "x.npy"), "--output", "y=" + (folder / "y.npy")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  std::string expected = npy_of_four();
  for (const std::size_t sign : {131U, 135U, 139U, 143U})
    expected[sign] = static_cast<char>(expected[sign] ^ '\x80');
  EXPECT_EQ(file_text(folder / "y.npy"), expected);
  ASSERT_EQ(run({"--input", "sr=8000", "--input", "x=" + (folder / "y.npy"), "--output", "y=" + (folder / "z.pb")})
                .exit_code,
            0);
  onnx::TensorProto tensor;
  ASSERT_TRUE(tensor.ParseFromString(file_text(folder / "z.pb")));
  EXPECT_EQ(tensor.name(), "y");
  EXPECT_EQ(tensor.raw_data(), npy_of_four().substr(128));
  ASSERT_EQ(run({"--input", "sr=8000", "x=" + (folder / "z.pb"), "--output", "y=" + (folder / "w.npy")}).exit_code,
            0);
  EXPECT_EQ(file_text(folder / "w.npy"), expected);
}

TEST(words, a_file_that_is_no_tensor_of_the_input_is_refused_with_its_name) {
  const TemporaryFolder folder;
  const std::string file = folder / "vad.onnx", npy = folder / "x.npy";
  write_file(file, rate_onnx());
  const auto refused = [&](const std::string& text, const std::string& name = "x.npy") {
    write_file(folder / name, text);
    const Ended ended = run_sdip({"run", file, "--input", "sr=1", "x=" + (folder / name)});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr(name));
    return ended.err;
  };
  std::string other = npy_of_four();
  EXPECT_THAT(refused(other.substr(0, 140)), HasSubstr("sdip: tensor_file_invalid: --input x: "));
  EXPECT_THAT(refused(other + "x"), HasSubstr("sdip: tensor_file_invalid: "));
  EXPECT_THAT(refused("text"), HasSubstr("sdip: tensor_file_invalid: "));
  EXPECT_THAT(refused("text", "x.pb"), HasSubstr("sdip: tensor_file_invalid: "));
  EXPECT_THAT(refused(other.replace(other.find("<f4"), 3, "<i4")), HasSubstr("sdip: shape_mismatch: "));
  EXPECT_THAT(refused(other), HasSubstr("numpy.float32"));
  other = npy_of_four();
  EXPECT_THAT(refused(other.replace(other.find("(1, 4)"), 6, "(2, 2)")), HasSubstr("the input is float32[1,4]"));
  const auto said = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command{"run", file, "--input", "sr=1"};
    command.insert(command.end(), more.begin(), more.end());
    return run_sdip(command).err;
  };
  EXPECT_THAT(said({"--input", "x=absent.npy"}), HasSubstr("absent.npy: cannot open"));
  EXPECT_THAT(said({"--input", "x=16k"}), HasSubstr("it is no value"));
  EXPECT_THAT(said({"--output", "y=a.txt"}), HasSubstr("FILE.npy"));
  EXPECT_THAT(said({"--output", "z=a.npy"}), HasSubstr("one of: y"));
  EXPECT_THAT(said({"--output", "y=" + (folder / "none/a.npy")}), HasSubstr("file_unwritable"));
}

TEST(words, a_built_in_model_takes_values_and_files_for_a_run) {
  const TemporaryFolder folder;
  const Ended ran =
      run_sdip({"run", "tiny-sd-unet", "--input", "timestep=5", "--output", "out_sample=" + (folder / "a.npy")});
  const Ended named = run_sdip({"run", "tiny-sd-unet", "--output", "nothing=a.npy"});
  EXPECT_THAT(named.err, HasSubstr("NAME being one of: "));
  EXPECT_THAT(ran.err, Not(HasSubstr("internal")));
}

TEST(words, what_is_no_regular_file_is_refused_at_once_wherever_a_file_is_opened) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe.onnx", plain = folder / "pipe", socket_name = folder / "s.onnx";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(plain.c_str(), 0600), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  socket_name.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto refused = [](const std::vector<std::string>& command, const std::string& kind) {
    const Ended ended = run_sdip(command);
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, HasSubstr("sdip: file_unreadable: "));
    EXPECT_THAT(ended.err, HasSubstr("not a regular file but " + kind));
  };
  for (const char* command :
       {"analyze", "run", "validate", "traffic", "tiling", "compile", "accuracy", "memory", "compare", "sweep"}) {
    refused({command, pipe}, "a pipe");
    refused({command, plain}, "a pipe");
    refused({command, socket_name}, "a socket");
  }
  refused({"model", "show", pipe}, "a pipe");
  refused({"analyze", "/dev/null"}, "a device");
  refused({"analyze", folder.path.string()}, "a folder");
  refused({"analyze", "--program", pipe}, "a pipe");
  refused({"disassemble", pipe, "-o", folder / "a"}, "a pipe");
  for (const char* option : {"--machine", "--formats", "--operators"})
    refused({"analyze", "tiny-sd", option, pipe}, "a pipe");
  refused({"compile", "tiny-sd", "--mapping", pipe}, "a pipe");
  refused({"sweep", "tiny-sd", "--spec", pipe}, "a pipe");
  refused({"run", "tiny-sd-text", "--input", "input_ids=" + plain}, "a pipe");
  ASSERT_EQ(run_sdip({"compile", "tiny-sd-text", "--out", folder / "p"}).exit_code, 0);
  refused({"run", "--program", folder / "p/tiny-sd-text.graph", "--weights", pipe}, "a pipe");
  ::close(listener);
}

}  // namespace
}  // namespace sdip::test
