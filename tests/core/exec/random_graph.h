// Small random networks: every kind of operator a compiler sees, in shapes that tile unevenly.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// Numbers from a seed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15U + 1) {}
  /// From `least` to `most`, both included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  double unit() { return static_cast<double>(between(-1000, 1000)) / 1000.0; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(between(0, std::ssize(list) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

/// A graph with the values of its weights and inputs.
struct MadeNetwork {
  Graph graph;
  std::map<std::string, Tensor> weights;
  std::vector<Tensor> inputs;

  std::optional<Tensor> stored(const Value& value) const {
    const auto found = weights.find(value.name);
    return found == weights.end() ? std::nullopt : std::optional(found->second);
  }
};

/// Adds nodes to a network one by one; shapes follow.
class NetworkMaker {
 public:
  explicit NetworkMaker(Draw& draw) : draw_(draw) { made_.graph.name = "random"; }
  ValueId input(Shape shape, ElementType type = ElementType::float32);
  /// Random numbers within 1/sqrt(fan_in), or integers -4 to 4.
  ValueId weight(Shape shape, std::int64_t fan_in = 1, ElementType type = ElementType::float32);
  /// A constant of integers whose values are known: shapes, axes, indices.
  ValueId ints(std::vector<std::int64_t> values);
  /// A constant of one float.
  ValueId number(double value);
  std::vector<ValueId> nodes(const char* domain, const char* type, std::vector<ValueId> inputs,
                             Attributes attributes = {}, std::size_t outputs = 1);
  ValueId node(const char* type, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return nodes("", type, std::move(inputs), std::move(attributes))[0];
  }
  const Shape& shape(ValueId v) const { return made_.graph.values[static_cast<std::size_t>(v)].operand.shape; }
  /// With these outputs, sorted and without what reaches none of them; rewritten when asked to.
  MadeNetwork finish(const std::vector<ValueId>& outputs, bool rewritten);

 private:
  Draw& draw_;
  MadeNetwork made_;
};

/// A network of `count` random layers on feature maps and token rows: convolutions, products, norms, attention,
/// activations, residuals, concatenations, splits, transposes, pools, resizes.
MadeNetwork random_network(Draw& draw, std::int64_t count);

/// Rows of features one behind the other: norms, products with weights, activations, gates of two products or of
/// one that is cut in two, attention to themselves or to other rows, residuals.
MadeNetwork random_feed_forwards(Draw& draw);

/// The same layers, and what strangers bring besides: recurrent layers of which any outputs are used, from states
/// that are given or not; constants and rows that broadcast both ways, also beside turned values; products with
/// weights for some of the leading axes; several outputs.
MadeNetwork random_foreign_network(Draw& draw, std::int64_t count);

/// The same with integers alone: products, sums, comparisons, copies.
MadeNetwork random_integer_network(Draw& draw, std::int64_t count);

}  // namespace sdip
