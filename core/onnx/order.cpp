// In which order a body's nodes are read, subgraphs included: what they take from outside is an input of their
// node.
#include "core/base/error.h"
#include "core/graph/sort.h"
#include "core/onnx/reading.h"

namespace sdip {
namespace {

using Producers = std::unordered_map<std::string_view, std::int32_t>;
constexpr std::int32_t own_value = -1;  // made by no node

std::string described_node(const Nodes& nodes, std::int32_t index) {
  const auto& node = nodes[index];
  return fmt::format("node '{}' ({})", own_name(node, index), node.op_type());
}

Producers producers_of(const Nodes& nodes, const std::vector<std::string_view>& own) {
  Producers producers;
  producers.reserve(own.size() + as_size(nodes.size()));
  for (std::string_view name : own) {
    if (name.empty()) throw Error("invalid_graph", "", "an input or initializer has no name");
    if (!producers.emplace(name, own_value).second) {
      throw Error("invalid_graph", "", fmt::format("value '{}' is made twice", name));
    }
  }
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i].output()) {
      if (name.empty() || producers.emplace(name, i).second) continue;
      throw Error("invalid_graph", own_name(nodes[i], i),
                  described_node(nodes, i) + " makes value '" + name + "', which is made elsewhere");
    }
  }
  return producers;
}

/// Notes a name that a node uses: made by another node, or captured.
struct Uses {
  const Producers& producers;
  std::unordered_set<std::string_view> seen;
  BodyOrder order;

  void add(std::string_view name, std::vector<std::int32_t>* needs) {
    if (name.empty()) return;
    const auto found = producers.find(name);
    if (found == producers.end()) {
      if (seen.insert(name).second) order.captured.push_back(name);
    } else if (needs != nullptr && found->second != own_value) {
      needs->push_back(found->second);
    }
  }
};

}  // namespace

const BodyOrder& order_of_body(ModelReading& reading, const Nodes& nodes, const std::vector<std::string_view>& own,
                               const std::vector<std::string_view>& results) {
  if (const auto known = reading.orders.find(&nodes); known != reading.orders.end()) return known->second;
  const Producers producers = producers_of(nodes, own);
  Uses uses{producers, {}, {}};
  std::vector<std::vector<std::int32_t>> needs(as_size(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i) {
    std::vector<std::int32_t>& mine = needs[at(i)];
    for (const std::string& name : nodes[i].input()) uses.add(name, &mine);
    for (const auto& attribute : nodes[i].attribute()) {
      if (!attribute.has_g()) continue;
      for (std::string_view name : order_of_graph(reading, attribute.g()).captured) uses.add(name, &mine);
    }
  }
  for (std::string_view name : results) uses.add(name, nullptr);
  SortOrder found = order_of(needs);
  if (found.on_cycle >= 0) {
    throw Error("graph_cycle", own_name(nodes[found.on_cycle], found.on_cycle),
                described_node(nodes, found.on_cycle) + " needs its own result: the graph has a cycle");
  }
  uses.order.nodes = std::move(found.order);
  return reading.orders.emplace(&nodes, std::move(uses.order)).first->second;
}

const BodyOrder& order_of_graph(ModelReading& reading, const onnx::GraphProto& graph) {
  std::vector<std::string_view> own, results;
  std::unordered_set<std::string_view> initializers;
  for (const auto& tensor : graph.initializer()) {
    own.push_back(tensor.name());
    initializers.insert(tensor.name());
  }
  for (const auto& input : graph.input()) {
    if (!initializers.contains(input.name())) own.push_back(input.name());
  }
  for (const auto& output : graph.output()) results.push_back(output.name());
  return order_of_body(reading, graph.node(), own, results);
}

}  // namespace sdip
