// Tensors of a run as files and as text.
#include "server/cli/run_tensors.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "core/base/error.h"
#include "core/explore/validate/validate_tensors.h"
#include "core/onnx/npy.h"
#include "core/onnx/raw.h"
#include "core/onnx/tensor_message.h"
#include "core/onnx/value_text.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/io/text.h"

namespace sdip {
namespace {

const Value& value_of(const Graph& graph, ValueId id) { return graph.values[id]; }

/// The text after NAME= in the last text that begins so.
std::optional<std::string> said_of(const std::vector<std::string>& texts, const std::string& name) {
  for (auto text = texts.rbegin(); text != texts.rend(); ++text)
    if (text->starts_with(name + "=")) return text->substr(name.size() + 1);
  return std::nullopt;
}

std::string described(const Tensor& tensor) {
  return std::string(element_type_text(tensor.type)) + shape_text(tensor.shape);
}
std::string described(const Operand& operand) {
  return std::string(element_type_text(operand.type)) + shape_text(operand.shape);
}

Tensor tensor_of_raw_file(const Operand& operand, std::string_view bytes) {
  const std::int64_t expected = stored_bytes(operand.type, operand.shape);
  if (operand.type == ElementType::string || std::ssize(bytes) != expected)
    throw Error("value_invalid", "",
                fmt::format("the file has {} bytes; {} has {}. A file whose name ends in neither .npy nor .pb "
                            "holds the elements alone",
                            bytes.size(), described(operand), expected));
  return tensor_of_raw(operand.type, operand.shape, bytes);
}

Tensor tensor_of_file(const std::string& path, const Operand& operand) {
  const MappedFile file(path);
  const std::string_view bytes = file.text();
  if (path.ends_with(".npy")) return tensor_of_npy(bytes, operand.type);
  if (path.ends_with(".pb")) return tensor_of_message(bytes);
  return tensor_of_raw_file(operand, bytes);
}

Tensor given_tensor(const std::string& name, const Operand& operand, const std::string& said) {
  const bool value = is_value(said);
  const std::string where = "--input " + printable(name);
  try {
    if (value) return tensor_of_text(operand.type, operand.shape, said);
    Tensor tensor = tensor_of_file(said, operand);
    if (tensor.type == operand.type && tensor.shape == operand.shape) return tensor;
    throw Error("shape_mismatch", "",
                "the file holds " + described(tensor) + ", the input is " + described(operand));
  } catch (const Error& error) {
    std::string what = error.what();
    if (error.code == "file_not_found") what += " (and it is no value, such as 16000, true or [1,0])";
    throw Error(error.code, where, value ? what : printable(said) + ": " + what);
  }
}

bool has_output_ending(const std::string& path) { return path.ends_with(".npy") || path.ends_with(".pb"); }

}  // namespace

void require_known_tensors(const std::vector<const Graph*>& graphs, const RunTensors& tensors) {
  const auto places = [&](const std::string& text, const std::vector<ValueId> Graph::*side) {
    std::size_t count = 0;
    for (const Graph* graph : graphs)
      count += as_size(std::ranges::any_of(
          graph->*side, [&](ValueId id) { return text.starts_with(value_of(*graph, id).name + "="); }));
    return count;
  };
  const auto names = [&](const std::vector<ValueId> Graph::*side) {
    std::string list;
    for (const Graph* graph : graphs)
      for (const ValueId id : graph->*side)
        if (list.size() < 1000) list += (list.empty() ? "" : ", ") + printable(value_of(*graph, id).name);
    return list;
  };
  for (const std::string& text : tensors.inputs)
    if (places(text, &Graph::inputs) == 0)
      throw Error("value_invalid", "--input " + printable(text.substr(0, 80)),
                  "expected NAME=FILE or NAME=VALUE, NAME being one of: " + names(&Graph::inputs));
  for (const std::string& text : tensors.outputs) {
    const std::string where = "--output " + printable(text.substr(0, 80));
    const std::size_t found = places(text, &Graph::outputs);
    if (found == 0 || !has_output_ending(text))
      throw Error("value_invalid", where,
                  "expected NAME=FILE.npy or NAME=FILE.pb, NAME being one of: " + names(&Graph::outputs));
    if (found > 1)
      throw Error("value_invalid", where,
                  "several models of the pipeline have an output of this name; expected one of them as MODEL");
  }
}

std::vector<Tensor> inputs_of(const Graph& graph, const RunTensors& tensors) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    const Value& value = value_of(graph, id);
    const auto said = said_of(tensors.inputs, value.name);
    inputs.push_back(said ? given_tensor(value.name, value.operand, *said)
                          : seeded_tensor(value.operand, tensors.seed, inputs.size()));
  }
  return inputs;
}

void write_outputs(const Graph& graph, const std::vector<Tensor>& results, const RunTensors& tensors) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = value_of(graph, graph.outputs[i]).name;
    const auto path = said_of(tensors.outputs, name);
    if (!path) continue;
    write_file(*path, path->ends_with(".npy") ? npy_of_tensor(results[i]) : message_of_tensor(results[i], name));
    std::cerr << "wrote " << printable(*path) << " (" << described(results[i]) << ")\n";
  }
}

}  // namespace sdip
