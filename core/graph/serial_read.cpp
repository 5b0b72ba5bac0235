// Bytes to a graph, trusting nothing.
#include <cmath>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/graph/serial.h"
#include "core/graph/serial_form.h"

namespace sdip {
namespace {

constexpr std::size_t most_name_bytes = 1 << 16;
constexpr std::size_t most_node_operands = 1 << 16;
constexpr std::size_t most_rank = 64;
constexpr std::size_t most_attributes = 256;
constexpr std::size_t most_list = 1 << 20;
constexpr std::int64_t most_tensor_elements = 1 << 20;
constexpr auto most_count = INT64_MAX;

struct Reading {
  ByteReader in;
  Graph graph;
  std::vector<const Operator*> rows;
};

ElementType read_type(ByteReader& in) {
  const std::uint8_t type = in.byte();
  if (type > static_cast<std::uint8_t>(last_element_type)) in.refuse("no such element type");
  return static_cast<ElementType>(type);
}

Shape read_shape(ByteReader& in) {
  Shape shape(in.size(most_rank));
  for (std::int64_t& size : shape) size = in.number(0, most_count);
  element_count(shape);
  return shape;
}

ValueId read_id(Reading& reading, bool optional) {
  const std::uint64_t id = reading.in.count();
  if (id > reading.graph.values.size() || (id == 0 && !optional)) reading.in.refuse("no such value");
  return static_cast<ValueId>(id) - 1;
}

std::vector<ValueId> read_ids(Reading& reading, std::size_t most, bool optional) {
  std::vector<ValueId> ids(reading.in.size(most));
  for (ValueId& id : ids) id = read_id(reading, optional);
  return ids;
}

Attribute read_attribute(ByteReader& in) {
  switch (in.byte()) {
    case 0:
      return in.number();
    case 1:
      return in.real();
    case 2:
      return in.text(most_list);
    case 3: {
      std::vector<std::int64_t> values(in.size(most_list));
      for (std::int64_t& value : values) value = in.number();
      return values;
    }
    case 4: {
      std::vector<double> values(in.size(most_list, 8));
      for (double& value : values) value = in.real();
      return values;
    }
    case 5: {
      std::vector<std::string> values(in.size(most_name_bytes));
      for (std::string& value : values) value = in.text(most_list);
      return values;
    }
    case 6:
      return read_tensor(in, most_tensor_elements);
    default:
      in.refuse("no such kind of attribute");
  }
}

Operand read_operand(ByteReader& in) {
  Operand operand;
  operand.type = read_type(in);
  operand.shape = read_shape(in);
  const std::uint8_t parts = in.byte();
  if (parts > 7) in.refuse("no such part of an operand");
  if ((parts & 1) != 0) {
    operand.value = read_tensor(in, most_folded_elements);
    if (operand.value->type != operand.type || operand.value->shape != operand.shape)
      in.refuse("a value of another type or shape");
  }
  if ((parts & 2) != 0) operand.fill = in.real();
  operand.weight = (parts & 4) != 0;
  return operand;
}

NumberFormat read_format(ByteReader& in) {
  const std::uint8_t format = in.byte();
  if (format >= std::size(number_formats)) in.refuse("no such number format");
  return static_cast<NumberFormat>(format);
}

std::int64_t read_density(ByteReader& in) {
  const std::uint8_t hundredths = in.byte();
  if (hundredths < 1 || hundredths > 100) in.refuse("no density");
  return hundredths;
}

Value read_value(ByteReader& in) {
  Value value;
  value.name = in.text(most_name_bytes);
  const std::uint8_t kind = in.byte(), parts = in.byte();
  if (kind > static_cast<std::uint8_t>(ValueKind::activation)) in.refuse("no such kind of value");
  if (parts > 63) in.refuse("no such part of a value");
  if ((parts & 8) != 0) value.format = read_format(in);
  if ((parts & 16) != 0) value.sums = read_format(in);
  if ((parts & 32) != 0) value.density_hundredths = read_density(in);
  value.kind = static_cast<ValueKind>(kind);
  value.initializer = (parts & 2) != 0;
  value.parameter = (parts & 4) != 0;
  value.operand = read_operand(in);
  if ((parts & 1) == 0) return value;
  value.bytes.emplace();
  value.bytes->file = in.text(most_name_bytes);
  value.bytes->offset = in.number(0, most_count);
  value.bytes->length = in.number(0, most_count - value.bytes->offset);
  return value;
}

void read_rows(Reading& reading) {
  ByteReader& in = reading.in;
  const std::size_t count = in.size(10'000, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string domain = in.text(most_name_bytes), type = in.text(most_name_bytes);
    const Operator* op = find_operator(reading.graph.own_operators.get(), domain, type);
    if (op == nullptr) in.refuse("no such operator");
    if (op->infer == nullptr || op->work == nullptr) in.refuse("an operator that stands for others");
    reading.rows.push_back(op);
  }
}

Node read_node(Reading& reading) {
  ByteReader& in = reading.in;
  Node node;
  node.name = in.text(most_name_bytes);
  const std::uint64_t row = in.count();
  if (row >= reading.rows.size()) in.refuse("no such operator");
  node.op = reading.rows[at(row)];
  node.opset = in.number(0, 1'000'000);
  for (std::size_t left = in.size(most_attributes, 3); left > 0; --left) {
    std::string key = in.text(most_name_bytes);
    if (!node.attributes.emplace(std::move(key), read_attribute(in)).second) in.refuse("an attribute stands twice");
  }
  node.inputs = read_ids(reading, most_node_operands, true);
  node.outputs = read_ids(reading, most_node_operands, true);
  if (node.outputs.empty()) in.refuse("a node without outputs");
  return node;
}

/// The outputs' types and shapes are what the operator makes of the inputs, so that later rules may rely on it.
void check_node(const Reading& reading, const Node& node, List<char>& made) {
  const auto& values = reading.graph.values;
  for (ValueId id : node.inputs)
    if (id != none && made[id] == 0) reading.in.refuse("a value is used before it is made");
  const std::vector<Operand> outputs = infer_use(*node.op, use_of(reading.graph, node).use, -1);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == none) continue;
    const auto at = as_size(node.outputs[i]);
    if (made[at] != 0) reading.in.refuse("a value is made twice");
    made[at] = 1;
    const Operand& said = values[at].operand;
    if (said.type != outputs[i].type || said.shape != outputs[i].shape)
      reading.in.refuse(fmt::format("node '{}' makes {}, not {}", node.name, shape_text(outputs[i].shape),
                                    shape_text(said.shape)));
  }
}

void check_nodes(const Reading& reading) {
  const Graph& graph = reading.graph;
  List<char> produced(graph.values.size(), 0);
  for (const Node& node : graph.nodes)
    for (ValueId id : node.outputs)
      if (id != none) produced[id] = 1;
  List<char> made(graph.values.size(), 0);
  for (std::size_t v = 0; v < made.size(); ++v) {
    const Value& value = graph.values[v];
    made[v] = produced[v] == 0;
    if (made[v] != 0 && value.kind == ValueKind::activation) reading.in.refuse("an activation that no node makes");
    if (made[v] == 0 && value.kind == ValueKind::input) reading.in.refuse("an input that a node makes");
    if (value.operand.weight != (value.kind == ValueKind::weight)) reading.in.refuse("a weight that is none");
  }
  for (ValueId id : graph.inputs)
    if (graph.values[id].kind != ValueKind::input) reading.in.refuse("an input that is none");
  for (const Node& node : graph.nodes) check_node(reading, node, made);
}

/// Numbers of nodes, ascending, at least one.
void read_in_place(ByteReader& in, Graph& graph) {
  std::size_t next = 0;
  const std::size_t count = in.size(graph.nodes.size());
  if (count == 0) in.refuse("no node read in place");
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t n = in.count();
    if (n < next || n >= graph.nodes.size()) in.refuse("no such node");
    if (!may_be_in_place(*graph.nodes[n].op)) in.refuse("a node that is not read in place");
    graph.nodes[n].in_place = true;
    next = as_size(n) + 1;
  }
}

void read_graph(Reading& reading) {
  ByteReader& in = reading.in;
  Graph& graph = reading.graph;
  if (in.left() < serial_magic.size()) in.refuse("the bytes end early");
  const auto magic = in.raw(serial_magic.size());
  const std::string_view form(reinterpret_cast<const char*>(magic.data()), magic.size());
  if (form != serial_magic && form != serial_magic_in_place) in.refuse("no graph of version 1 or 2");
  graph.name = in.text(most_name_bytes);
  graph.producer = in.text(most_name_bytes);
  graph.opset = in.number(0, 1'000'000);
  ImportCounts& counts = graph.imported;
  for (std::int64_t* count : {&counts.folded_nodes, &counts.folded_elements, &counts.composites, &counts.functions,
                              &counts.branches, &counts.loop_iterations})
    *count = in.number(0, most_count);
  read_rows(reading);
  // A value takes at least a name, kind, parts, type, rank and parts; a node an operator, two lists and more.
  const std::size_t values = in.size(most_serial_values, 6);
  graph.values.reserve(values);
  for (std::size_t i = 0; i < values; ++i) graph.values.push_back(read_value(in));
  const std::size_t nodes = in.size(most_serial_nodes, 7);
  graph.nodes.reserve(nodes);
  for (std::size_t i = 0; i < nodes; ++i) graph.nodes.push_back(read_node(reading));
  graph.inputs = read_ids(reading, most_serial_values, false);
  graph.outputs = read_ids(reading, most_serial_values, false);
  if (form == serial_magic_in_place) read_in_place(in, graph);
  if (in.left() != 0) in.refuse("more bytes than a graph has");
  check_nodes(reading);
  link(graph);
}

}  // namespace

Tensor read_tensor(ByteReader& in, std::int64_t most_elements) {
  Tensor tensor;
  tensor.type = read_type(in);
  tensor.shape = read_shape(in);
  const std::int64_t elements = element_count(tensor.shape);
  if (elements > most_elements) in.refuse("a tensor of more elements than are kept");
  const auto most = as_size(elements);
  tensor.ints.resize(in.size(most));
  for (std::int64_t& value : tensor.ints) {
    value = in.number();
    if (wrapped(tensor.type, value) != value) in.refuse("a number that its type does not hold");
  }
  tensor.floats.resize(in.size(most, 8));
  for (double& value : tensor.floats) {
    value = in.real();
    if (!std::isnan(value) && rounded(tensor.type, value) != value)
      in.refuse("a number that its type does not hold");
  }
  const bool floating = is_floating(tensor.type);
  const bool whole = tensor.floats.size() == (floating ? most : 0) && tensor.ints.size() == (floating ? 0 : most);
  if (!whole) in.refuse("not as many numbers as the shape has elements");
  return tensor;
}

Graph graph_of_bytes(std::span<const std::byte> bytes, std::shared_ptr<const OwnOperators> own) {
  Reading reading{ByteReader(bytes), {}, {}};
  reading.graph.own_operators = std::move(own);
  try {
    read_graph(reading);
  } catch (const Error& error) {
    if (error.code == "bytes_invalid") throw;
    throw Error("bytes_invalid", error.where, error.what());
  }
  return std::move(reading.graph);
}

}  // namespace sdip
