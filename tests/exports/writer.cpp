// A model being written as an exporter writes one.
#include "tests/exports/writer.h"

#include <algorithm>
#include <set>

namespace sdip::exports {
namespace {

using enum ElementType;

Tensor tensor_of(ElementType type, const Shape& shape, const std::vector<double>& values) {
  Tensor tensor = zero_tensor(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_floating(type))
      tensor.floats[i] = rounded(type, values[i]);
    else
      tensor.ints[i] = static_cast<std::int64_t>(values[i]);
  }
  return tensor;
}

const char* producer(Manner manner) {
  switch (manner) {
    case Manner::tensorflow:
      return "tf2onnx";
    case Manner::keras:
      return "keras2onnx";
    case Manner::onnxruntime:
      return "onnxruntime.transformers";
    default:
      return "pytorch";
  }
}

}  // namespace

Writer::Writer(std::int64_t version, Manner how, std::uint64_t seed) : opset(version), manner(how), draw_(seed) {
  made_.model.set_ir_version(opset < 13 ? 6 : opset < 15 ? 7 : opset < 19 ? 8 : 10);
  made_.model.set_producer_name(producer(how));
  made_.model.mutable_graph()->set_name("main_graph");
  auto* import = made_.model.add_opset_import();
  import->set_domain("");
  import->set_version(version);
  graphs_ = {made_.model.mutable_graph()};
}

void Writer::dim(const std::string& name, const Ints& choices) { made_.dims[name] = draw_.of(choices); }

Name Writer::input(const std::string& name, const Sizes& sizes, Range range, ElementType type) {
  auto& info = *made_.model.mutable_graph()->add_input();
  generate::describe(info, {name, type, {}, false, {}, {}});
  for (const Size& size : sizes) {
    auto& dimension = *info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
    if (size.name.empty())
      dimension.set_dim_value(size.size);
    else
      dimension.set_dim_param(size.name);
  }
  made_.ranges[name] = range;
  return name;
}

Name Writer::ids(const std::string& name, const Sizes& sizes, std::int64_t count) {
  return input(name, sizes, {0, static_cast<double>(count) - 1}, int64);
}

Name Writer::constant(const Tensor& value, const std::string& prefix, bool as_node) {
  const Name name = fresh(prefix);
  const bool raw = manner != Manner::keras;
  const onnx::TensorProto proto = generate::proto_of(value, as_node ? "" : name, raw);
  if (as_node)
    node("", "Constant", {}, {name}, {{"value", proto}});
  else
    *graphs_.back()->add_initializer() = proto;
  return name;
}

Name Writer::small_constant(const Tensor& value) {
  const bool node = manner == Manner::torchscript || manner == Manner::keras || graphs_.size() > 1;
  return constant(value, "Constant", node);
}

Name Writer::weight_in(const Shape& shape, Range range, ElementType type) {
  return constant(generate::random_tensor(type, shape, range, draw_), "weight", false);
}

Name Writer::weight(const Shape& shape, double most, ElementType type) {
  return weight_in(shape, {-most, most}, type);
}

Name Writer::tensor(const Shape& shape, const std::vector<double>& values, ElementType type) {
  return small_constant(tensor_of(type, shape, values));
}

Name Writer::list(const Ints& values) {
  Tensor tensor = zero_tensor(int64, {std::ssize(values)});
  tensor.ints.assign(values.begin(), values.end());
  return small_constant(tensor);
}

Name Writer::whole(std::int64_t value) { return tensor({}, {static_cast<double>(value)}, int64); }
Name Writer::number(double value, ElementType type) { return tensor({}, {value}, type); }

Name Writer::fresh(const std::string& type) {
  const std::string count = std::to_string(counts_[type]++);
  switch (manner) {
    case Manner::torchscript:
      return type == "weight" ? "onnx::MatMul_" + count : "/model/" + type + "_" + count + "_output_0";
    case Manner::tensorflow:
      return "StatefulPartitionedCall/model/" + type + "_" + count + ":0";
    case Manner::keras:
      return type + count;
    case Manner::dynamo:
      return "val_" + type + "_" + count;
    case Manner::onnxruntime:
      return "/layers." + count + "/" + type;
  }
  return count;
}

void Writer::node(const std::string& domain, const std::string& type, const Names& inputs, const Names& outputs,
                  const AttributeList& attributes) {
  auto& node = *graphs_.back()->add_node();
  node.set_op_type(type);
  node.set_domain(domain);
  if (manner != Manner::keras) node.set_name("node_" + type + "_" + std::to_string(counts_["nodes"]++));
  for (const Name& input : inputs) node.add_input(input);
  for (const Name& output : outputs) node.add_output(output);
  for (const generate::Given& given : attributes) *node.add_attribute() = given.proto;
  for (const auto& import : made_.model.opset_import())
    if (import.domain() == domain) return;
  auto* import = made_.model.add_opset_import();
  import->set_domain(domain);
  import->set_version(1);
}

Name Writer::operator()(const std::string& type, const Names& inputs, const AttributeList& attributes) {
  const Name name = fresh(type);
  node("", type, inputs, {name}, attributes);
  return name;
}

Name Writer::contrib(const std::string& type, const Names& inputs, const AttributeList& attributes) {
  const Name name = fresh(type);
  node("com.microsoft", type, inputs, {name}, attributes);
  return name;
}

Names Writer::many(const std::string& type, const Names& inputs, const AttributeList& attributes,
                   std::size_t outputs) {
  Names names;
  for (std::size_t i = 0; i < outputs; ++i) names.push_back(fresh(type));
  node("", type, inputs, names, attributes);
  return names;
}

Name Writer::cast(const Name& x, ElementType type) {
  return (*this)("Cast", {x}, {{"to", generate::number_of(type)}});
}

Name Writer::unsqueeze(const Name& x, const Ints& axes) {
  if (opset < 13) return (*this)("Unsqueeze", {x}, {{"axes", axes}});
  return (*this)("Unsqueeze", {x, list(axes)});
}

Name Writer::squeeze(const Name& x, const Ints& axes) {
  if (opset < 13) return (*this)("Squeeze", {x}, {{"axes", axes}});
  return (*this)("Squeeze", {x, list(axes)});
}

Name Writer::reduce(const std::string& type, const Name& x, const Ints& axes, bool keep) {
  if (opset < (type == "ReduceSum" ? 13 : 18))
    return (*this)(type, {x}, {{"axes", axes}, {"keepdims", keep ? 1 : 0}});
  return (*this)(type, {x, list(axes)}, {{"keepdims", keep ? 1 : 0}});
}

Names Writer::split(const Name& x, std::int64_t axis, const Ints& sizes) {
  const auto count = sizes.size();
  if (opset < 13) return many("Split", {x}, {{"axis", axis}, {"split", sizes}}, count);
  const bool equal = std::ranges::all_of(sizes, [&](std::int64_t s) { return s == sizes[0]; });
  if (opset >= 18 && equal && manner == Manner::dynamo)
    return many("Split", {x}, {{"axis", axis}, {"num_outputs", static_cast<std::int64_t>(count)}}, count);
  return many("Split", {x, list(sizes)}, {{"axis", axis}}, count);
}

Name Writer::slice(const Name& x, std::int64_t axis, std::int64_t from, std::int64_t to, std::int64_t step) {
  return (*this)("Slice", {x, list({from}), list({to}), list({axis}), list({step})});
}

Name Writer::sliced(const Name& x, std::int64_t axis, const Name& from, const Name& to) {
  return (*this)("Slice", {x, from, to, list({axis}), list({1})});
}

Name Writer::clip(const Name& x, double least, double most) {
  if (opset < 11) return (*this)("Clip", {x}, {{"min", least}, {"max", most}});
  return (*this)("Clip", {x, number(least), number(most)});
}

Name Writer::pad(const Name& x, const Ints& pads, const char* mode) {
  if (opset < 11) return (*this)("Pad", {x}, {{"pads", pads}, {"mode", mode}});
  if (std::string(mode) != "constant") return (*this)("Pad", {x, list(pads)}, {{"mode", mode}});
  return (*this)("Pad", {x, list(pads), number(0)}, {{"mode", mode}});
}

Name Writer::resize(const Name& x, const Name& scales, const Name& sizes, const AttributeList& attributes) {
  Names inputs{x, opset < 13 ? tensor({0}, {}) : "", scales};  // what is absent was empty once
  if (!sizes.empty() && opset < 13) inputs[2] = tensor({0}, {});
  if (!sizes.empty()) inputs.push_back(sizes);
  return (*this)("Resize", inputs, attributes);
}

Name Writer::transpose(const Name& x, const Ints& order) { return (*this)("Transpose", {x}, {{"perm", order}}); }

Name Writer::concat(const Names& parts, std::int64_t axis) { return (*this)("Concat", parts, {{"axis", axis}}); }

Name Writer::size(const Name& x, std::int64_t axis) {
  if (manner == Manner::dynamo && opset >= 15) {
    const Name one = (*this)("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
    return squeeze(one, {0});
  }
  if (manner == Manner::tensorflow) {
    const Name shape = cast((*this)("Shape", {x}), int32);
    return cast(squeeze(slice(shape, 0, axis, axis + 1), {0}), int64);
  }
  return (*this)("Gather", {(*this)("Shape", {x}), whole(axis)}, {{"axis", 0}});
}

Name Writer::shape(const Parts& parts) {
  Ints known;
  for (const Part& part : parts)
    if (part.scalar.empty()) known.push_back(part.size);
  if (known.size() == parts.size()) return list(known);
  Names lists;
  for (const Part& part : parts) {
    if (part.scalar.empty())
      lists.push_back(manner == Manner::torchscript ? unsqueeze(whole(part.size), {0}) : list({part.size}));
    else
      lists.push_back(manner == Manner::dynamo ? (*this)("Reshape", {part.scalar, list({-1})})
                                               : unsqueeze(part.scalar, {0}));
  }
  return concat(lists, 0);
}

Name Writer::reshape(const Name& x, const Parts& parts) {
  const Name sizes = shape(parts);
  const bool copies = std::ranges::any_of(parts, [](const Part& p) { return p.scalar.empty() && p.size == 0; });
  if (manner == Manner::dynamo && opset >= 14 && !copies) return (*this)("Reshape", {x, sizes}, {{"allowzero", 1}});
  return (*this)("Reshape", {x, sizes});
}

Name Writer::expand(const Name& x, const Parts& parts) { return (*this)("Expand", {x, shape(parts)}); }

onnx::GraphProto Writer::body(const std::vector<std::pair<std::string, ElementType>>& inputs,
                              const std::function<Names(const Names&)>& fill) {
  onnx::GraphProto graph;
  graph.set_name("sub_graph" + std::to_string(counts_["bodies"]++));
  Names names;
  for (const auto& [name, type] : inputs) {
    names.push_back(fresh(name));
    const bool scalar = type == int64 || type == boolean;  // a count, a condition; of others the shape is not told
    generate::describe(*graph.add_input(), {names.back(), type, {}, false, {}, {}}, scalar);
  }
  graphs_.push_back(&graph);
  const Names outputs = fill(names);
  graphs_.pop_back();
  for (const Name& output : outputs) graph.add_output()->set_name(output);
  return graph;
}

void Writer::function(const std::string& domain, const std::string& name, const Names& inputs,
                      const std::function<Names(const Names&)>& fill) {
  onnx::GraphProto graph;
  graphs_.push_back(&graph);
  const Names outputs = fill(inputs);
  graphs_.pop_back();
  auto& function = *made_.model.add_functions();
  function.set_domain(domain);
  function.set_name(name);
  for (const Name& input : inputs) function.add_input(input);
  for (const Name& output : outputs) function.add_output(output);
  for (const auto& node : graph.node()) *function.add_node() = node;
  std::set<std::string> domains{""};
  for (const auto& node : graph.node()) domains.insert(node.domain());
  for (const std::string& one : domains) {
    auto* import = function.add_opset_import();
    import->set_domain(one);
    import->set_version(one.empty() ? opset : 1);
  }
}

Generated Writer::finish() {
  for (const Name& name : outputs_) made_.model.mutable_graph()->add_output()->set_name(name);
  return std::move(made_);
}

}  // namespace sdip::exports
