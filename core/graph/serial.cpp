// A graph to bytes. Every struct is taken apart whole: a field that is added and not written here does not compile.
#include "core/graph/serial.h"

#include <unordered_map>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/graph/serial_form.h"

namespace sdip {
namespace {

void write_shape(ByteWriter& out, const Shape& shape) {
  out.size(shape.size());
  for (std::int64_t size : shape) out.number(size);
}

template <class Number>
void write_id(ByteWriter& out, Number id) {
  out.count(static_cast<std::uint64_t>(std::int64_t{id} + 1));  // `none` is 0
}

void write_ids(ByteWriter& out, const std::vector<ValueId>& ids) {
  out.size(ids.size());
  for (ValueId id : ids) write_id(out, id);
}

void write_attribute(ByteWriter& out, const Attribute& attribute) {
  out.byte(static_cast<std::uint8_t>(attribute.index()));
  switch (attribute.index()) {
    case 0:
      return out.number(std::get<0>(attribute));
    case 1:
      return out.real(std::get<1>(attribute));
    case 2:
      return out.text(std::get<2>(attribute));
    case 3:
      return write_shape(out, std::get<3>(attribute));
    case 4:
      out.size(std::get<4>(attribute).size());
      for (double value : std::get<4>(attribute)) out.real(value);
      return;
    case 5:
      out.size(std::get<5>(attribute).size());
      for (const std::string& value : std::get<5>(attribute)) out.text(value);
      return;
    default:
      static_assert(std::variant_size_v<Attribute> == 7);
      return write_tensor(out, std::get<6>(attribute));
  }
}

void write_operand(ByteWriter& out, const Operand& operand) {
  const auto& [type, shape, value, fill, weight] = operand;
  out.byte(static_cast<std::uint8_t>(type));
  write_shape(out, shape);
  out.byte(static_cast<std::uint8_t>((value ? 1 : 0) | (fill ? 2 : 0) | (weight ? 4 : 0)));
  if (value) write_tensor(out, *value);
  if (fill) out.real(*fill);
}

void write_value(ByteWriter& out, const Value& value) {
  const auto& [name, kind, operand, producer, consumers, bytes, initializer, parameter, format, sums, density] =
      value;
  out.text(name);
  out.byte(static_cast<std::uint8_t>(kind));
  out.byte(static_cast<std::uint8_t>((bytes ? 1 : 0) | (initializer ? 2 : 0) | (parameter ? 4 : 0) |
                                     (format ? 8 : 0) | (sums ? 16 : 0) | (density ? 32 : 0)));
  if (format) out.byte(static_cast<std::uint8_t>(*format));
  if (sums) out.byte(static_cast<std::uint8_t>(*sums));
  if (density) out.byte(static_cast<std::uint8_t>(*density));
  write_operand(out, operand);
  if (!bytes) return;
  const auto& [file, offset, length] = *bytes;
  out.text(file);
  out.number(offset);
  out.number(length);
}

void write_node(ByteWriter& out, const Node& node, const std::unordered_map<const Operator*, std::size_t>& rows) {
  const auto& [name, op, opset, attributes, inputs, outputs, in_place] = node;  // in_place: at the end
  out.text(name);
  out.size(rows.at(op));
  out.number(opset);
  out.size(attributes.size());
  for (const auto& [key, attribute] : attributes) {
    out.text(key);
    write_attribute(out, attribute);
  }
  write_ids(out, inputs);
  write_ids(out, outputs);
}

}  // namespace

void write_tensor(ByteWriter& out, const Tensor& tensor) {
  const auto& [type, shape, ints, floats] = tensor;
  out.byte(static_cast<std::uint8_t>(type));
  write_shape(out, shape);
  out.size(ints.size());
  for (std::int64_t value : ints) out.number(value);
  out.size(floats.size());
  for (double value : floats) out.real(value);
}

std::string to_bytes(const Graph& graph) {
  const auto& [name, nodes, values, inputs, outputs, producer, opset, imported, own_operators] = graph;
  ByteWriter out;
  std::vector<std::size_t> in_place;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n].in_place) in_place.push_back(n);
  out.raw(in_place.empty() ? serial_magic : serial_magic_in_place);
  out.text(name);
  out.text(producer);
  out.number(opset);
  const auto& [folded_nodes, folded_elements, composites, functions, branches, loop_iterations] = imported;
  for (std::int64_t count : {folded_nodes, folded_elements, composites, functions, branches, loop_iterations})
    out.number(count);
  std::vector<const Operator*> listed;
  std::unordered_map<const Operator*, std::size_t> rows;
  for (const Node& node : nodes)
    if (rows.emplace(node.op, listed.size()).second) listed.push_back(node.op);
  out.size(listed.size());
  for (const Operator* op : listed) {
    out.text(op->domain);
    out.text(op->type);
  }
  out.size(values.size());
  for (const Value& value : values) write_value(out, value);
  out.size(nodes.size());
  for (const Node& node : nodes) write_node(out, node, rows);
  write_ids(out, inputs);
  write_ids(out, outputs);
  if (in_place.empty()) return out.take();
  out.size(in_place.size());
  for (const std::size_t n : in_place) out.size(n);
  return out.take();
}

}  // namespace sdip
