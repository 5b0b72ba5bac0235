// The three targets.
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/import.h"
#include "core/onnx/survey.h"
#include "tests/fuzz/target.h"

namespace sdip::fuzz {
namespace {

ImportOptions tight_options() {
  ImportOptions options;
  options.most_nodes = 3000;
  options.most_folded_elements_in_all = 1 << 18;
  options.most_inlined_name_bytes = 1 << 20;
  return options;
}

bool is_sound(const Value& value) {
  const auto& [type, shape, known, fill, weight] = value.operand;
  const bool placed = !value.bytes || (value.bytes->offset >= 0 && value.bytes->length >= 0);
  const auto held = known ? std::ssize(known->ints) + std::ssize(known->floats) : 0;
  return placed && std::all_of(shape.begin(), shape.end(), [](auto size) { return size >= 0; }) &&
         (!known || (known->shape == shape && known->type == type && held == element_count(shape)));
}

std::string imported(std::string_view input, const ImportOptions& options) {
  const auto bytes = std::as_bytes(std::span(input.data(), input.size()));
  try {
    survey_onnx(bytes, options);
    Graph graph = import_onnx(bytes, options);
    for (const Value& value : graph.values) {
      if (!is_sound(value)) throw Bug("value '" + value.name + "' of shape " + shape_text(value.operand.shape));
    }
    rewrite(graph);
    facts_of(graph);
    return "graph";
  } catch (const Error& error) {
    check(!error.code.empty(), "fuzz: an error without a code");
    return error.code;
  }
}

std::string run_import(std::string_view input) { return imported(input, tight_options()); }

/// Lines "key value" become the external data of three tensors in turn; an empty line starts the next tensor.
std::string run_external(std::string_view input) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  for (int t = 0; t < 3; ++t) {
    auto* tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("w" + std::to_string(t));
    tensor->set_data_type(t == 2 ? 22 : 1);  // int4: two in a byte
    tensor->add_dims(5);
    tensor->add_dims(t + 1);
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  }
  int tensor = 0;
  while (!input.empty() && tensor < 3) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line.empty()) {
      ++tensor;
      continue;
    }
    const std::size_t space = std::min(line.find(' '), line.size());
    auto* entry = model.mutable_graph()->mutable_initializer(tensor)->add_external_data();
    entry->set_key(std::string(line.substr(0, space)));
    entry->set_value(std::string(line.substr(std::min(space + 1, line.size()))));
  }
  for (int t = 0; t < 3; ++t) {
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type("Identity");
    node->add_input("w" + std::to_string(t));
    node->add_output("y" + std::to_string(t));
    model.mutable_graph()->add_output()->set_name("y" + std::to_string(t));
  }
  return run_import(model.SerializeAsString());
}

std::vector<std::string> descriptors() {
  return {
      "location a\noffset 0\nlength 20\n\nlocation a\noffset 20\nlength 40\n\nlocation a\noffset 60\nlength 8\n",
      "location a\n\nlocation b\noffset 4096\n\nlocation c/d\nlength 8\nchecksum 12\n",
      "location ../x\noffset 9223372036854775807\n\nlocation /etc/passwd\noffset -1\n\nlength 1e3\n"};
}

constexpr Target rows[] = {
    {"bytes", run_import, changed_bytes, small_models},
    {"models", run_import, changed_model, small_models},
    {"external", run_external, changed_bytes, descriptors},
};

}  // namespace

std::span<const Target> targets() { return rows; }

}  // namespace sdip::fuzz
