// Scan: its body once for each slice of the inputs it scans.
#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/bodies/subgraph.h"
#include "core/onnx/tensor.h"

namespace sdip {
namespace {

/// A scan as its attributes say.
struct Scan {
  const NodeCall& call;
  const onnx::GraphProto& body;
  std::size_t states = 0, scanned = 0, stacks = 0;
  std::vector<std::int64_t> input_axes, input_directions, output_axes, output_directions;
};

const Shape& shape_of(const Scan& scan, ValueId id) { return scan.call.reading.graph.values[id].operand.shape; }

const onnx::AttributeProto* attribute_of(const Scan& scan, std::string_view name) {
  for (const auto& attribute : scan.call.node.attribute()) {
    if (attribute.name() != name) continue;
    return resolved_attribute(attribute, fmt::format("node '{}', attribute '{}'", scan.call.name, attribute.name()),
                              scan.call.place.attributes);
  }
  return nullptr;
}

/// A list of `count` integers, all 0 when absent.
std::vector<std::int64_t> list_of(const Scan& scan, const char* name, std::size_t count) {
  const auto* attribute = attribute_of(scan, name);
  if (attribute == nullptr) return std::vector<std::int64_t>(count, 0);
  if (attribute->type() != onnx::AttributeProto::INTS || as_size(attribute->ints_size()) != count) {
    scan.call.refuse("invalid_graph", fmt::format("attribute '{}' must be a list of {} integers", name, count));
  }
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::int64_t axis_of(const Scan& scan, std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) scan.call.refuse("shape_mismatch", fmt::format("axis {} is outside", axis));
  return axis < 0 ? axis + rank : axis;
}

/// Over nothing the states stay, and nothing is stacked, of the shapes that the body makes of slices of zeros.
std::vector<ValueId> scan_nothing(const Scan& scan, const std::string& path, std::vector<ValueId> states,
                                  const std::vector<ValueId>& scanned, const std::vector<std::int64_t>& axes) {
  std::vector<ValueId> inputs = states;
  for (std::size_t k = 0; k < scanned.size(); ++k) {
    const ElementType type = scan.call.reading.graph.values[scanned[k]].operand.type;
    Shape slice = shape_of(scan, scanned[k]);
    slice.erase(slice.begin() + axes[k]);
    check_shape(slice, "a slice of '" + scan.call.name + "'", scan.call.reading.options);
    if (element_count(slice) > most_folded_elements)
      scan.call.refuse("shape_unknown", "scans nothing of large slices");
    inputs.push_back(
        add_constant(scan.call.reading, path_of(path, "slice_" + std::to_string(k)), zero_tensor(type, slice)));
  }
  const auto results = read_subgraph(scan.call, scan.body, path_of(path, "nothing"), inputs);
  for (std::size_t k = 0; k < scan.stacks; ++k) {
    const ValueId result = results[scan.states + k];
    Shape shape = shape_of(scan, result);
    const std::int64_t axis = axis_of(scan, scan.output_axes[k], std::ssize(shape) + 1);
    shape.insert(shape.begin() + axis, 0);
    const ElementType type = scan.call.reading.graph.values[result].operand.type;
    states.push_back(
        add_constant(scan.call.reading, path_of(path, "stack_" + std::to_string(k)), {type, shape, {}, {}}));
  }
  return states;
}

/// Final states and stacked results of one pass over the scanned inputs.
std::vector<ValueId> scan_once(const Scan& scan, const std::string& path, std::vector<ValueId> states,
                               const std::vector<ValueId>& scanned) {
  std::int64_t length = -1;
  std::vector<std::int64_t> axes;
  for (std::size_t k = 0; k < scanned.size(); ++k) {
    const Shape& shape = shape_of(scan, scanned[k]);
    axes.push_back(axis_of(scan, scan.input_axes[k], std::ssize(shape)));
    const std::int64_t size = shape[at(axes.back())];
    if (length >= 0 && size != length) scan.call.refuse("shape_mismatch", "its scanned inputs differ in length");
    length = size;
  }
  if (length == 0) return scan_nothing(scan, path, std::move(states), scanned, axes);
  std::vector<std::vector<ValueId>> stacks(scan.stacks);
  for (std::int64_t t = 0; t < length; ++t) {
    spend(scan.call.reading, scan.call.name, 1 + static_cast<std::int64_t>(scanned.size()));
    const std::string at = path_of(path, "iteration_" + std::to_string(t));
    std::vector<ValueId> inputs = states;
    for (std::size_t k = 0; k < scanned.size(); ++k) {
      const std::int64_t index = scan.input_directions[k] == 0 ? t : length - 1 - t;
      const std::string slice = path_of(at, "slice_" + std::to_string(k));
      const ValueId which =
          add_constant(scan.call.reading, slice + "_index", {ElementType::int64, {}, {index}, {}});
      inputs.push_back(add_node(scan.call.reading, slice, "Gather", axes[k], {scanned[k], which}));
    }
    const auto results = read_subgraph(scan.call, scan.body, at, inputs);
    states.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(scan.states));
    for (std::size_t k = 0; k < scan.stacks; ++k) stacks[k].push_back(results[scan.states + k]);
    scan.call.reading.graph.imported.loop_iterations += 1;
  }
  for (std::size_t k = 0; k < scan.stacks; ++k) {
    if (scan.output_directions[k] != 0) std::reverse(stacks[k].begin(), stacks[k].end());
    const std::int64_t rank = std::ssize(shape_of(scan, stacks[k].front())) + 1;
    states.push_back(stacked(scan.call.reading, path_of(path, "stack_" + std::to_string(k)), stacks[k],
                             axis_of(scan, scan.output_axes[k], rank)));
  }
  return states;
}

/// Opset 8: every input has a batch in front, and each of its members is scanned alone.
std::vector<ValueId> scan_batch(const Scan& scan, const std::vector<ValueId>& states,
                                const std::vector<ValueId>& scanned) {
  std::vector<ValueId> all = states;
  all.insert(all.end(), scanned.begin(), scanned.end());
  std::int64_t batch = -1;
  for (ValueId id : all) {
    const Shape& shape = shape_of(scan, id);
    if (shape.empty() || (batch >= 0 && shape[0] != batch)) {
      scan.call.refuse("shape_mismatch", "its inputs differ in batch");
    }
    batch = shape[0];
  }
  if (batch < 1) scan.call.refuse("shape_unknown", "scans an empty batch: its results have no shape");
  std::vector<std::vector<ValueId>> results(scan.states + scan.stacks);
  for (std::int64_t b = 0; b < batch; ++b) {
    spend(scan.call.reading, scan.call.name, 1 + static_cast<std::int64_t>(all.size()));
    const std::string path = path_of(scan.call.name, "batch_" + std::to_string(b));
    const ValueId which =
        add_constant(scan.call.reading, path_of(path, "index"), {ElementType::int64, {}, {b}, {}});
    std::vector<ValueId> mine;
    for (std::size_t i = 0; i < all.size(); ++i) {
      mine.push_back(
          add_node(scan.call.reading, path_of(path, "member_" + std::to_string(i)), "Gather", 0, {all[i], which}));
    }
    const auto middle = mine.begin() + static_cast<std::ptrdiff_t>(scan.states);
    const auto found = scan_once(scan, path, {mine.begin(), middle}, {middle, mine.end()});
    for (std::size_t i = 0; i < found.size(); ++i) results[i].push_back(found[i]);
  }
  std::vector<ValueId> joined;
  for (std::size_t i = 0; i < results.size(); ++i) {
    joined.push_back(stacked(scan.call.reading, path_of(scan.call.name, "batches_" + std::to_string(i)), results[i],
                             std::int64_t{0}));
  }
  return joined;
}

/// How many states, scanned inputs and stacks there are; attributes that are lists of them.
void fill(Scan& scan, bool batched) {
  const auto* count = attribute_of(scan, "num_scan_inputs");
  const std::int64_t inputs = scan.call.node.input_size() - (batched ? 1 : 0);
  if (count == nullptr || count->type() != onnx::AttributeProto::INT || count->i() < 1 || count->i() > inputs) {
    scan.call.refuse("invalid_graph", "attribute 'num_scan_inputs' must be 1 to " + std::to_string(inputs));
  }
  scan.scanned = as_size(count->i());
  scan.states = as_size(inputs) - scan.scanned;
  const auto results = as_size(scan.body.output_size());
  if (scan.body.input_size() != inputs || results < scan.states ||
      scan.call.node.output_size() > scan.body.output_size()) {
    scan.call.refuse("invalid_graph", "its body has other inputs or results than it");
  }
  scan.stacks = results - scan.states;
  scan.input_axes =
      batched ? std::vector<std::int64_t>(scan.scanned, 0) : list_of(scan, "scan_input_axes", scan.scanned);
  scan.input_directions = list_of(scan, batched ? "directions" : "scan_input_directions", scan.scanned);
  scan.output_axes =
      batched ? std::vector<std::int64_t>(scan.stacks, 0) : list_of(scan, "scan_output_axes", scan.stacks);
  scan.output_directions =
      batched ? std::vector<std::int64_t>(scan.stacks, 0) : list_of(scan, "scan_output_directions", scan.stacks);
}

}  // namespace

void read_scan(const NodeCall& call) {
  const onnx::NodeProto& node = call.node;
  const auto opset = call.place.opsets->find("");
  const bool batched = opset != call.place.opsets->end() && opset->second < 9;
  check_attribute_names(call, batched
                                  ? "body num_scan_inputs directions"
                                  : "body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes "
                                    "scan_output_directions");
  Scan scan{call, subgraph_of(call, "body"), 0, 0, 0, {}, {}, {}, {}};
  fill(scan, batched);
  if (batched && !node.input(0).empty()) {
    call.refuse("unsupported_attribute", "sequence lengths of opset 8 are not supported");
  }
  std::vector<ValueId> ids;
  for (int i = batched ? 1 : 0; i < node.input_size(); ++i) {
    ids.push_back(call.input(i));
    if (ids.back() == none) call.refuse("invalid_graph", "an input is missing");
  }
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(scan.states);
  const std::vector<ValueId> states(ids.begin(), middle), scanned(middle, ids.end());
  const std::size_t first_made = call.reading.graph.values.size();
  deliver(call, batched ? scan_batch(scan, states, scanned) : scan_once(scan, call.name, states, scanned),
          first_made);
}

}  // namespace sdip
