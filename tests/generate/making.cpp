// A model under construction: operands drawn from what is there.
#include "tests/generate/making.h"

#include <algorithm>
#include <set>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/onnx/import.h"

namespace sdip::generate {

namespace {
constexpr const char* other_domains[] = {"com.microsoft", "ai.onnx.preview", "local", "pynq"};
}

std::size_t index(int value) { return static_cast<std::size_t>(value); }

Making::Making(std::uint64_t seed, std::int64_t version) : draw(seed), opset(version) {
  made_.model.set_ir_version(opset > 20 ? 10 : opset < 9 && draw.one_in(2) ? 3 : 8);
  made_.model.mutable_graph()->set_name("generated");
  made_.model.set_producer_name("generate");
  made_.model.add_opset_import()->set_version(opset);
  for (const char* domain : other_domains) {
    auto* import = made_.model.add_opset_import();
    import->set_domain(domain);
    import->set_version(1);
  }
  graphs_ = {made_.model.mutable_graph()};
}

Making::Making(std::uint64_t seed, const Generated& begun) : Making(seed, 17) {
  made_ = begun;
  for (const auto& import : begun.model.opset_import())
    if (import.domain().empty() || import.domain() == "ai.onnx") opset = import.version();
  for (const char* domain : other_domains) {
    if (std::ranges::any_of(begun.model.opset_import(), [&](const auto& i) { return i.domain() == domain; }))
      continue;
    auto* import = made_.model.add_opset_import();
    import->set_domain(domain);
    import->set_version(1);
  }
  graphs_ = {made_.model.mutable_graph()};
  count_ = 1 << 20;  // names of its own
  for (const auto& [name, known] : begun.values) add(known);
}

int Making::add(Known known) {
  const int number = static_cast<int>(values_.size());
  numbers_[known.name] = number;
  made_.values[known.name] = known;
  values_.push_back(std::move(known));
  pool_.push_back(number);
  return number;
}

std::int64_t Making::size() {
  if (zeros && draw.one_in(8)) return 0;
  return draw.of(std::vector<std::int64_t>{1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8});
}

Shape Making::any_shape(std::int64_t least_rank, std::int64_t most_rank) {
  Shape shape;
  std::int64_t elements = 1;
  for (std::int64_t i = draw.between(least_rank, most_rank); i > 0; --i) {
    shape.push_back(elements > 200 ? draw.between(1, 2) : size());
    elements *= std::max<std::int64_t>(1, shape.back());
  }
  return shape;
}

bool Making::has(ElementType type) const {
  return std::ranges::any_of(pool_, [&](int v) { return at(v).type == type && !at(v).constant; });
}

/// Recent ones mostly, so that chains grow; the others are residuals and skips.
int Making::pick(const std::function<bool(const Known&)>& wanted) {
  std::vector<int> found;
  for (const int v : pool_)
    if (wanted(at(v)) && element_count(at(v).shape) <= most_elements) found.push_back(v);
  if (found.empty()) return absent;
  const auto last = std::ssize(found) - 1;
  return found[static_cast<std::size_t>(
      draw.between(draw.one_in(3) ? 0 : std::max<std::int64_t>(0, last - 2), last))];
}

int Making::any(ElementType type, std::int64_t least_rank, std::int64_t most_rank) {
  const auto ranked = [&](const Known& k) {
    return std::ssize(k.shape) >= least_rank && std::ssize(k.shape) <= most_rank;
  };
  const bool new_one = draw.one_in(12);
  if (!new_one) {
    const int v =
        pick([&](const Known& k) { return k.type == type && ranked(k) && (!k.constant || draw.one_in(20)); });
    if (v != absent) return v;
  }
  if (!new_one && !draw.one_in(4)) {
    const int other = pick([&](const Known& k) {
      return !k.constant && k.type != ElementType::string && (ranked(k) || k.type == type);
    });
    if (other != absent && ranked(at(other))) return cast(other, type);
    if (other != absent) {
      Shape shape(static_cast<std::size_t>(
                      draw.between(std::max<std::int64_t>(1, least_rank), std::max<std::int64_t>(1, most_rank))),
                  1);
      std::int64_t rest = element_count(at(other).shape);
      for (std::size_t i = 0; i + 1 < shape.size(); ++i)
        for (const std::int64_t d : {2, 3, 5})
          if (rest % d == 0 && rest > 0 && draw.one_in(2)) shape[i] *= d, rest /= d;
      shape.back() = rest;
      if (std::ssize(shape) <= most_rank) return reshaped(other, shape);
    }
  }
  const Shape shape = any_shape(least_rank, std::min<std::int64_t>(most_rank, least_rank + 4));
  return draw.one_in(8) ? constant(type, shape) : input(type, shape);
}

int Making::like(ElementType type, const Shape& shape, Range range) {
  if (!draw.one_in(3)) {
    const int v = pick([&](const Known& k) { return k.type == type && k.shape == shape && !k.constant; });
    if (v != absent) return v;
  }
  return draw.one_in(2) ? input(type, shape, range) : constant(type, shape, range);
}

int Making::broadcast(ElementType type, const Shape& shape, Range range, bool one_way) {
  const auto fits = [&](const Shape& other) {
    if (other.size() > shape.size() && one_way) return false;
    for (std::size_t i = 1; i <= std::min(other.size(), shape.size()); ++i) {
      const std::int64_t a = other[other.size() - i], b = shape[shape.size() - i];
      if (a != b && a != 1 && (b != 1 || one_way)) return false;
    }
    return element_count(other) * std::max<std::int64_t>(1, element_count(shape)) <= 8 * most_elements;
  };
  if (draw.one_in(2)) {
    const int v = pick([&](const Known& k) { return k.type == type && !k.constant && fits(k.shape); });
    if (v != absent) return v;
  }
  if (draw.one_in(5))
    return scalar(type, type == ElementType::boolean ? static_cast<double>(draw.between(0, 1))
                                                     : draw.of(std::vector<double>{0, 1, 2, 1, 0.5, -1, 3}));
  Shape other = shape;
  if (draw.one_in(3)) other.erase(other.begin(), other.begin() + draw.between(0, std::ssize(other)));
  for (std::int64_t& d : other) {
    if (draw.one_in(4)) d = 1;
    if (d == 1 && !one_way && draw.one_in(5)) {
      const std::int64_t wide = draw.between(1, 4);
      const std::size_t behind = static_cast<std::size_t>(&d - other.data()) + shape.size() - other.size();
      if (shape[behind] == 1 && element_count(shape) * wide < most_elements) d = wide;
    }
  }
  if (!one_way && draw.one_in(10) && other.size() == shape.size() && element_count(shape) < 100 && shape.size() < 5)
    other.insert(other.begin(), draw.between(1, 3));
  return draw.one_in(3) ? input(type, other, range) : constant(type, other, range);
}

int Making::weight(ElementType type, const Shape& shape, Range range) {
  if (draw.one_in(5)) {
    const int v = pick([&](const Known& k) { return k.type == type && k.shape == shape; });
    if (v != absent) return v;
  }
  return draw.one_in(8) ? input(type, shape, range) : constant(type, shape, range);
}

int Making::reshaped(int value, const Shape& shape) {
  if (opset < 13 && at(value).type == ElementType::bfloat16) throw Refused();
  if (std::ranges::find(shape, 0) == shape.end()) return op("Reshape", {value, ints(shape)}, {});
  if (opset < 14) return input(at(value).type, shape);  // there 0 stands for the size that was
  return op("Reshape", {value, ints(shape)}, {{"allowzero", 1}});
}

int Making::cast(int value, ElementType type) { return op("Cast", {value}, {{"to", number_of(type)}}); }

int Making::small(int value) {
  const std::int64_t elements = element_count(shape(value));
  if (elements <= most_elements || shape(value).empty()) return value;
  const auto longest = std::ranges::max_element(shape(value)) - shape(value).begin();
  return op("ArgMax", {value}, {{"axis", longest}});
}

void free_names(const onnx::GraphProto& graph, std::set<std::string>& names) {
  std::set<std::string> made;
  for (const auto& i : graph.input()) made.insert(i.name());
  for (const auto& i : graph.initializer()) made.insert(i.name());
  std::set<std::string> used;
  for (const auto& node : graph.node()) {
    used.insert(node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) free_names(attribute.g(), used);
    made.insert(node.output().begin(), node.output().end());
  }
  for (const auto& o : graph.output()) used.insert(o.name());
  for (const std::string& name : used)
    if (!made.contains(name) && !name.empty()) names.insert(name);
}

std::set<std::string> names_read(const onnx::NodeProto& node) {
  std::set<std::string> names(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute())
    if (attribute.has_g()) free_names(attribute.g(), names);
  names.erase("");  // an operand that is left out
  return names;
}

void describe(onnx::ValueInfoProto& info, const Known& known, bool with_shape) {
  info.set_name(known.name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(number_of(known.type));
  if (!with_shape) return;
  tensor->mutable_shape();
  for (const std::int64_t size : known.shape) tensor->mutable_shape()->add_dim()->set_dim_value(size);
}

/// A node as a model of its own, so that import says what it makes.
onnx::ModelProto Making::alone(const onnx::NodeProto& node) const {
  onnx::ModelProto model = made_.model;
  model.mutable_graph()->Clear();
  auto& graph = *model.mutable_graph();
  graph.set_name("alone");
  for (const std::string& name : names_read(node)) {
    const Known& known = at(numbers_.at(name));
    if (known.value) {
      *graph.add_initializer() = *known.value;
      graph.mutable_initializer(graph.initializer_size() - 1)->set_name(name);
    } else {
      describe(*graph.add_input(), known);
    }
  }
  *graph.add_node() = node;
  for (const std::string& output : node.output())
    if (!output.empty()) graph.add_output()->set_name(output);
  return model;
}

/// Types and shapes of the node's outputs, and values that are known at import.
void Making::learn(const onnx::NodeProto& node, std::vector<int>& outputs) {
  const std::string bytes = alone(node).SerializeAsString();
  const Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  std::size_t next = 0;
  for (const std::string& name : node.output()) {
    if (name.empty()) {
      outputs.push_back(absent);
      continue;
    }
    const Value& value = graph.values[sdip::at(graph.outputs[next++])];
    Known known{name, value.operand.type, value.operand.shape, value.operand.value.has_value(), {}, {}};
    if (value.operand.value) known.value = proto_of(*value.operand.value, name, true);
    outputs.push_back(add(std::move(known)));
  }
}

std::vector<int> Making::node(const std::string& domain, const std::string& type, const std::vector<int>& inputs,
                              const AttributeList& attributes, int outputs, const std::vector<bool>& unused) {
  onnx::NodeProto proto;
  proto.set_op_type(type);
  proto.set_domain(domain);
  if (!draw.one_in(10)) proto.set_name(fresh("n"));
  std::size_t last = inputs.size();
  while (last > 0 && inputs[last - 1] == absent && !draw.one_in(6)) --last;
  for (std::size_t i = 0; i < last; ++i) proto.add_input(inputs[i] == absent ? "" : at(inputs[i]).name);
  for (int i = 0; i < outputs; ++i)
    proto.add_output(index(i) < unused.size() && unused[index(i)] ? "" : fresh("v"));
  for (const Given& given : attributes) *proto.add_attribute() = given.proto;
  *graphs_.back()->add_node() = proto;
  std::vector<int> made;
  try {
    learn(proto, made);
  } catch (const std::exception&) {
    if (depth > 0) refused_ = alone(proto);  // the body is not finished
    throw Refused();
  }
  return made;
}

onnx::GraphProto Making::body(const std::function<std::vector<int>(onnx::GraphProto&)>& fill) {
  onnx::GraphProto graph;
  graph.set_name(fresh("body"));
  const std::vector<int> before = pool_;
  graphs_.push_back(&graph);
  ++depth;
  try {
    for (const int output : fill(graph)) describe(*graph.add_output(), at(output), draw.one_in(2));
  } catch (const Refused&) {  // of what is in a body: the model would end inside of it
    graphs_.pop_back();
    --depth;
    pool_ = before;
    throw;
  }
  graphs_.pop_back();
  --depth;
  pool_ = before;
  return graph;
}

int Making::body_input(onnx::GraphProto& graph, ElementType type, const Shape& shape) {
  const int v = add({fresh("b"), type, shape, false, {}, {}});
  describe(*graph.add_input(), at(v), !draw.one_in(4));
  return v;
}

namespace {
bool names_input(const onnx::GraphProto& graph, const std::string& name) {
  return std::ranges::find(graph.input(), name, &onnx::ValueInfoProto::name) != graph.input().end();
}
}  // namespace

/// Ends mostly, some of what is used, too; rarely an input or a constant as it came.
void Making::choose_outputs(bool refused) {
  auto& graph = *made_.model.mutable_graph();
  std::set<std::string> used;
  for (const auto& node : graph.node()) used.merge(names_read(node));
  graph.clear_output();
  const auto give = [&](const std::string& name) {
    const auto known = numbers_.find(name);
    auto& output = *graph.add_output();
    output.set_name(name);
    if (known == numbers_.end()) return;
    describe(output, at(known->second), draw.one_in(2));
    if (!symbolic || !output.type().tensor_type().has_shape()) return;
    for (auto& dimension : *output.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (draw.one_in(3)) dimension.set_dim_param(name + "_dim");  // as exporters write what they do not know
  };
  const auto& last = graph.node(graph.node_size() - 1);
  for (const auto& node : graph.node()) {
    const bool is_last = &node == &last;
    for (const std::string& name : node.output()) {
      if (name.empty()) continue;
      const bool end = !used.contains(name);
      if ((refused && is_last) || (end && !draw.one_in(8)) || (!end && draw.one_in(25))) give(name);
    }
  }
  for (const auto& input : graph.input())
    if (draw.one_in(60)) give(input.name());
  for (const auto& initializer : graph.initializer())
    if (draw.one_in(120) && !names_input(graph, initializer.name())) give(initializer.name());
  if (graph.output_size() == 0) give(last.output(0).empty() ? last.output(1) : last.output(0));
}

/// As exporters write what they infer.
void Making::add_value_infos() {
  auto& graph = *made_.model.mutable_graph();
  for (const auto& node : graph.node())
    for (const std::string& name : node.output())
      if (const auto known = numbers_.find(name); known != numbers_.end())
        describe(*graph.add_value_info(), at(known->second));
}

Generated Making::finish(bool refused) {
  if (refused_) {
    made_.model = *refused_;
    made_.dims.clear();
    return std::move(made_);
  }
  auto& graph = *made_.model.mutable_graph();
  if (graph.node_size() == 0) op("Identity", {input(ElementType::float32, {2, 3})});
  choose_outputs(refused);
  if (draw.one_in(4)) add_value_infos();
  return std::move(made_);
}

}  // namespace sdip::generate
