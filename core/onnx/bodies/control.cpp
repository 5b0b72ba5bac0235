// If and Loop: the branch that is taken, and every iteration, as nodes.
#include "core/base/error.h"
#include "core/onnx/bodies/subgraph.h"
#include "core/onnx/needed_input.h"
#include "core/onnx/tensor.h"

namespace sdip {
namespace {

[[noreturn]] void refuse_undecided(const NodeCall& call, ValueId id, const char* what) {
  const Graph& graph = call.reading.graph;
  refuse_unknown_numbers(
      graph, std::span(&id, 1), call.name,
      fmt::format("node '{}' ({}): {} '{}'", call.name, call.node.op_type(), what, graph.values[id].name));
}

/// The number of a scalar; nothing when it is not known. Throws shape_mismatch for another type or size.
std::optional<std::int64_t> known_scalar(const NodeCall& call, ValueId id, ElementType type, const char* what) {
  const Operand& operand = call.reading.graph.values[id].operand;
  if (operand.type != type || element_count(operand.shape) != 1) {
    call.refuse("shape_mismatch", fmt::format("{} must be one {}, but is {}{}", what, element_type_text(type),
                                              element_type_text(operand.type), shape_text(operand.shape)));
  }
  if (operand.value) return operand.value->ints.at(0);
  return std::nullopt;
}

void read_if(const NodeCall& call) {
  const ValueId condition = call.input(0);
  if (condition == none || call.node.input_size() != 1) {
    call.refuse("invalid_graph", "must have one input, its condition");
  }
  check_attribute_names(call, "then_branch else_branch");
  const auto& then_branch = subgraph_of(call, "then_branch");
  const auto& else_branch = subgraph_of(call, "else_branch");
  const auto taken = known_scalar(call, condition, ElementType::boolean, "the condition");
  if (!taken) refuse_undecided(call, condition, "the condition");
  const auto& branch = *taken != 0 ? then_branch : else_branch;
  if (branch.input_size() != 0) call.refuse("invalid_graph", "a branch has inputs");
  refuse_unknown(call.reading, branch.node(), *call.place.opsets);
  call.reading.graph.imported.branches += 1;
  const std::size_t first_made = call.reading.graph.values.size();
  const auto results = read_subgraph(call, branch, path_of(call.name, *taken != 0 ? "then" : "else"), {});
  deliver(call, results, first_made);
}

/// Checks the numbers of a loop: from n + 2 inputs the body makes 1 + n + k results, and the node has n + k
/// outputs.
void check_loop(const NodeCall& call, const onnx::GraphProto& body) {
  const int carried = call.node.input_size() - 2;
  if (carried < 0 || body.input_size() != carried + 2 || body.output_size() < carried + 1 ||
      call.node.output_size() > body.output_size() - 1) {
    call.refuse("invalid_graph",
                fmt::format("has {} inputs and {} outputs, but its body {} and {}", call.node.input_size(),
                            call.node.output_size(), body.input_size(), body.output_size()));
  }
}

/// The stacked result of a loop without iterations: no element, in the shape that the body declares.
ValueId nothing_stacked(const NodeCall& call, const onnx::ValueInfoProto& declared) {
  Shape shape{0};
  const auto& type = declared.type().tensor_type();
  const auto element = element_type_of_onnx(type.elem_type());
  for (const auto& dimension : type.shape().dim()) {
    shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : -1);
    if (!element || shape.back() < 0) break;
  }
  if (!element || !type.has_shape() || shape.back() < 0) {
    call.refuse("shape_unknown",
                "has no iterations, and its body does not say the shape of '" + declared.name() + "'");
  }
  check_shape(shape, "'" + declared.name() + "'", call.reading.options);
  return add_constant(call.reading, path_of(call.name, declared.name()), Tensor{*element, shape, {}, {}});
}

/// Whether another iteration comes. Trips come first: after the last one nothing depends on the condition.
bool goes_on(const NodeCall& call, std::int64_t iteration, std::optional<std::int64_t> trips, ValueId condition) {
  if (trips && iteration >= *trips) return false;
  if (condition == none) return true;
  const auto known = known_scalar(call, condition, ElementType::boolean, "the condition");
  if (!known) refuse_undecided(call, condition, "the condition");
  return *known != 0;
}

void read_loop(const NodeCall& call) {
  check_attribute_names(call, "body");
  const auto& body = subgraph_of(call, "body");
  check_loop(call, body);
  const ValueId trip_count = call.input(0);
  std::optional<std::int64_t> trips;
  if (trip_count != none) {
    trips = known_scalar(call, trip_count, ElementType::int64, "the trip count");
    if (!trips) refuse_undecided(call, trip_count, "the trip count");
  }
  ValueId condition = call.input(1);
  const auto carried = as_size(call.node.input_size() - 2);
  std::vector<ValueId> state;
  for (int i = 2; i < call.node.input_size(); ++i) {
    state.push_back(call.input(i));
    if (state.back() == none) call.refuse("invalid_graph", "a carried input is missing");
  }
  std::vector<std::vector<ValueId>> stacks(as_size(body.output_size()) - 1 - carried);
  const std::size_t first_made = call.reading.graph.values.size();
  const ValueId yes = add_constant(call.reading, path_of(call.name, "true"), {ElementType::boolean, {}, {1}, {}});
  for (std::int64_t i = 0; goes_on(call, i, trips, condition); ++i) {
    spend(call.reading, call.name, 1);
    const std::string path = path_of(call.name, "iteration_" + std::to_string(i));
    std::vector<ValueId> inputs = {
        add_constant(call.reading, path_of(path, body.input(0).name()), {ElementType::int64, {}, {i}, {}}),
        condition == none ? yes : condition};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const auto results = read_subgraph(call, body, path, inputs);
    condition = results[0];
    state.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (std::size_t k = 0; k < stacks.size(); ++k) stacks[k].push_back(results[1 + carried + k]);
    call.reading.graph.imported.loop_iterations += 1;
  }
  for (std::size_t k = 0; k < stacks.size(); ++k) {
    if (static_cast<int>(carried + k) >= call.node.output_size()) break;
    state.push_back(stacks[k].empty()
                        ? nothing_stacked(call, body.output(static_cast<int>(1 + carried + k)))
                        : stacked(call.reading, path_of(call.name, "stack_" + std::to_string(k)), stacks[k], 0));
  }
  deliver(call, state, first_made);
}

}  // namespace

bool is_control(const onnx::NodeProto& node) {
  if (node.domain() == "ai.onnx.preview") return node.op_type() == "FlexAttention";
  if (!node.domain().empty() && node.domain() != "ai.onnx") return false;
  return node.op_type() == "If" || node.op_type() == "Loop" || node.op_type() == "Scan";
}

void read_control(const NodeCall& call) {
  const std::string& type = call.node.op_type();
  if (type == "If") return read_if(call);
  if (type == "Loop") return read_loop(call);
  type == "Scan" ? read_scan(call) : read_flex_attention(call);
}

}  // namespace sdip
