// The values and nodes of a `.graph` text.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/form/parsing.h"

namespace sdip {
namespace {

constexpr std::size_t most_rank = 64, most_list = 1 << 20, most_values = 2'000'000, most_nodes = 1'000'000;
constexpr std::int64_t most_tensor_elements = 1 << 20;

ElementType read_type(Scanner& in) {
  constexpr int types = static_cast<int>(last_element_type) + 1;
  return TextIn::one_of<ElementType>(in, "an element type", types, element_type_text);
}

template <class Read>
auto read_list(Scanner& in, std::size_t most, Read read) {
  std::vector<decltype(read())> list;
  in.expect("[");
  while (!in.accept("]")) {
    if (!list.empty()) in.expect(",");
    if (list.size() == most) in.refuse("a shorter list");
    list.push_back(read());
  }
  return list;
}

Shape read_shape(Scanner& in) {
  const Scanner before = in;
  Shape shape = read_list(in, most_rank, [&] { return in.number("a size", 0, INT64_MAX); });
  try {
    element_count(shape);
  } catch (const Error&) {
    before.refuse("a shape of at most 2^53 elements");
  }
  return shape;
}

Tensor read_tensor_text(Scanner& in, ElementType type, const Shape& shape, std::int64_t most) {
  const std::int64_t elements = element_count(shape);
  if (elements > most) in.refuse(fmt::format("a tensor of at most {} elements", most));
  Tensor tensor{type, shape, {}, {}};
  const auto count = as_size(elements);
  if (is_floating(type))
    tensor.floats = read_list(in, count, [&] { return in.real("an element"); });
  else
    tensor.ints = read_list(in, count, [&] { return in.number("an element"); });
  if (tensor.floats.size() + tensor.ints.size() != count)
    in.refuse(std::to_string(elements) + " elements before it");
  return tensor;
}

Attribute read_attribute(Scanner& in) {
  if (in.next() == '"') return in.quoted("a text");
  if (in.accept("ints")) return read_list(in, most_list, [&] { return in.number("an element"); });
  if (in.accept("reals")) return read_list(in, most_list, [&] { return in.real("an element"); });
  if (in.accept("texts")) return read_list(in, most_list, [&] { return in.quoted("an element"); });
  if (in.accept("tensor:")) {
    const ElementType type = read_type(in);
    const Shape shape = read_shape(in);
    in.expect(":");
    return read_tensor_text(in, type, shape, most_tensor_elements);
  }
  Scanner as_integer = in, as_real = in;
  const double real = as_real.real("an attribute");
  const auto is_end = [](const Scanner& s) { return s.at_end() || s.next() == ' '; };
  if (in.next() == '-' || (in.next() >= '0' && in.next() <= '9')) {
    const std::int64_t integer = as_integer.number("an attribute");
    if (is_end(as_integer)) {
      in = as_integer;
      return integer;
    }
  }
  in = as_real;
  return real;
}

Attributes read_attributes(std::string_view text, std::size_t line) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}')
    Scanner(text, line).refuse("attributes={\"name\"=value ...}");
  Scanner in(text.substr(1, text.size() - 2), line);
  Attributes attributes;
  for (in.skip_spaces(); !in.at_end(); in.skip_spaces()) {
    const Scanner before = in;
    std::string name = in.next() == '"' ? in.quoted("an attribute") : std::string(in.word("an attribute"));
    in.expect("=");
    if (!attributes.emplace(std::move(name), read_attribute(in)).second) before.refuse("each attribute once");
    if (!in.at_end() && in.next() != ' ') in.refuse("a space");
  }
  return attributes;
}

ValueId new_value(Parsing& parsing, const std::string& label, const Scanner& where) {
  if (parsing.graph.values.size() >= most_values) where.refuse("at most 2,000,000 values");
  const auto id = static_cast<ValueId>(parsing.graph.values.size());
  if (!parsing.labels.emplace(label, id).second) where.refuse("each value once, not %" + label + " again");
  parsing.graph.values.emplace_back();
  return id;
}

const Operator* read_operator(const Parsing& parsing, Scanner& in) {
  const Scanner before = in;
  std::string domain, type;
  if (in.next() == '"') {
    type = in.quoted("an operator");
    if (in.accept(".")) {
      domain = std::move(type);
      type = in.quoted("an operator");
    }
  } else {
    const std::string_view word = in.word("an operator");
    const std::size_t dot = word.rfind('.');
    type = word.substr(dot == std::string_view::npos ? 0 : dot + 1);
    if (dot != std::string_view::npos) domain = word.substr(0, dot);
  }
  const Operator* op = find_operator(parsing.graph.own_operators.get(), domain, type);
  if (op == nullptr) before.refuse("an operator that is known");
  if (op->infer == nullptr || op->work == nullptr) before.refuse("an operator that stands for no others");
  return op;
}

/// Gives the node its outputs, made of its inputs: as new values, or beside what value lines say.
void give_outputs(Parsing& parsing, const Node& node, const std::vector<char>& is_new) {
  std::vector<Operand> outputs;
  try {
    outputs = infer_use(*node.op, use_of(parsing.graph, node).use, -1);
  } catch (const Error& error) {
    refuse_line(parsing.line, error.what());
  }
  const bool weights = !node.op->random && std::ranges::all_of(node.inputs, [&](ValueId id) {
    return id == none || parsing.graph.values[id].kind == ValueKind::weight;
  });
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == none) continue;
    Value& value = parsing.graph.values[node.outputs[i]];
    if (is_new[i] != 0) {
      value.kind = weights ? ValueKind::weight : ValueKind::activation;
      value.operand.type = outputs[i].type;
      value.operand.shape = outputs[i].shape;
      value.operand.weight = weights;
    } else if (value.operand.type != outputs[i].type || value.operand.shape != outputs[i].shape) {
      refuse_line(parsing.line,
                  fmt::format("node '{}' makes {}{}, its value line says {}{}", node.name,
                              element_type_text(outputs[i].type), shape_text(outputs[i].shape),
                              element_type_text(value.operand.type), shape_text(value.operand.shape)));
    }
  }
}

}  // namespace

bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '+';
  });
}

ValueId read_label(const Parsing& parsing, Scanner& in, bool may_be_none) {
  if (may_be_none && in.accept("-")) return none;
  const Scanner before = in;
  in.expect("%");
  const auto found = parsing.labels.find(in.word("a value's label"));
  if (found == parsing.labels.end()) before.refuse("a value that stands above");
  return found->second;
}

std::vector<ValueId> read_labels(const Parsing& parsing, Scanner& in, bool may_be_none) {
  std::vector<ValueId> ids;
  if (in.next() != '%' && in.next() != '-') return ids;
  do {
    if (ids.size() == most_list) in.refuse("a shorter list");
    ids.push_back(read_label(parsing, in, may_be_none));
  } while (in.accept(","));
  return ids;
}

void read_value_line(Parsing& parsing, Scanner& in) {
  in.expect("%");
  const std::string label(in.word("a label"));
  const ValueId id = new_value(parsing, label, in);
  in.skip_spaces();
  Value value;
  const int kind = TextIn::one_of<int>(in, "a kind of value", static_cast<int>(std::size(value_kinds)),
                                       [](int one) { return value_kinds[at(one)]; });
  const bool is_sums = kind == static_cast<int>(std::size(value_kinds)) - 1;
  if (parsing.sums > 0 && !is_sums) in.refuse("sums behind all other values, before it,");
  parsing.sums += is_sums ? 1 : 0;
  value.kind = is_sums ? ValueKind::activation : static_cast<ValueKind>(kind);
  in.skip_spaces();
  value.operand.type = read_type(in);
  value.operand.shape = read_shape(in);
  value.operand.weight = value.kind == ValueKind::weight;
  in.skip_spaces();
  value.name = in.next() == '"' ? in.quoted("a name") : label;
  TextIn fields = TextIn::read(in);
  fields.flag("initializer", value.initializer);
  fields.flag("parameter", value.parameter);
  const std::pair<const char*, std::optional<NumberFormat>*> formats[] = {{"format", &value.format},
                                                                          {"sums", &value.sums}};
  for (const auto& [name, to] : formats)
    if (auto format = fields.take(name))
      *to = TextIn::one_of<NumberFormat>(*format, "a number format", static_cast<int>(std::size(number_formats)),
                                         format_text);
  if (auto density = fields.take("density")) value.density_hundredths = read_density(*density);
  if (auto fill = fields.take("fill")) value.operand.fill = fill->real("fill");
  if (auto data = fields.take("data"))
    value.operand.value = read_tensor_text(*data, value.operand.type, value.operand.shape, most_folded_elements);
  if (auto bytes = fields.take("bytes")) {
    value.bytes.emplace();
    value.bytes->file = bytes->quoted("a file");
    bytes->expect(":");
    value.bytes->offset = bytes->number("an offset", 0, INT64_MAX);
    bytes->expect(":");
    value.bytes->length = bytes->number("a length", 0, INT64_MAX - value.bytes->offset);
  }
  fields.finish();
  parsing.graph.values[id] = std::move(value);
}

void read_node_line(Parsing& parsing, Scanner& in) {
  Graph& graph = parsing.graph;
  const auto number = static_cast<std::int64_t>(graph.nodes.size());
  if (graph.nodes.size() >= most_nodes) in.refuse("at most 1,000,000 nodes");
  in.number("the node's number in order", number, number);
  in.skip_spaces();
  std::vector<std::string> outputs;
  do {
    if (outputs.size() == most_list) in.refuse("fewer outputs");
    outputs.emplace_back();
    if (in.accept("-")) continue;
    in.expect("%");
    outputs.back() = in.word("a label");
  } while (in.accept(","));
  in.skip_spaces();
  in.expect("=");
  in.skip_spaces();
  Node node;
  node.op = read_operator(parsing, in);
  in.expect("(");
  node.inputs = read_labels(parsing, in, true);
  in.expect(")");
  in.skip_spaces();
  node.name = in.next() == '"' ? in.quoted("a name") : std::to_string(number);
  TextIn fields = TextIn::read(in);
  fields.number("opset", 0, node.opset, replacement_opset, replacement_opset);
  std::int64_t in_place = 0;
  fields.number("in_place", 0, in_place, 0, 1);
  node.in_place = in_place != 0;
  if (node.in_place && !may_be_in_place(*node.op)) in.refuse("in_place of a Split, Slice, Gather or Concat alone,");
  if (auto attributes = fields.take("attributes"))
    node.attributes = read_attributes(attributes->value("attributes"), in.line());
  fields.finish();
  std::vector<char> is_new;
  for (const std::string& label : outputs) {
    is_new.push_back(0);
    node.outputs.push_back(none);
    if (label.empty()) continue;
    const auto found = parsing.labels.find(label);
    is_new.back() = found == parsing.labels.end() ? 1 : 0;
    if (is_new.back() != 0 && parsing.sums > 0) in.refuse("a value line for each output, as there are sums,");
    node.outputs.back() = is_new.back() != 0 ? new_value(parsing, label, in) : found->second;
    if (is_new.back() != 0) graph.values.back().name = label;
  }
  give_outputs(parsing, node, is_new);
  graph.nodes.push_back(std::move(node));
}

}  // namespace sdip
