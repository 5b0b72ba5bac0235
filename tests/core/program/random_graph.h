// Random small networks, and machines with every option that changes a program drawn. For tests.
#pragma once

#include <random>

#include "core/graph/graph.h"
#include "core/machine/machine.h"

namespace sdip {

class GraphDice {
 public:
  explicit GraphDice(std::uint64_t seed) : engine_(seed) {}
  /// From `least` to `most`, both included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

/// Three to sixteen operators on pictures: convolutions, products, norms, pointwise ones, views, joins and cuts.
Graph random_graph(GraphDice& dice);

/// Small memories; every choice of a parameter that can change a program. Checked.
Machine random_compile_machine(GraphDice& dice);

}  // namespace sdip
