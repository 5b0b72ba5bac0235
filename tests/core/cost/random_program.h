// Small programs and machines drawn from a seed, every option of the model among them.
#pragma once

#include <random>

#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  /// From `least` to `most`, both included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

/// A machine of small lanes, ports and DRAM rates, with every modelled option drawn. PSRAM is sized by
/// random_program.
Machine random_machine(Dice& dice);

/// A program of one or two fused attentions, self and cross, operands anywhere, run once or twice each.
Program random_attentions(Dice& dice, Machine& machine);

/// A program of one to six classes and up to ten instructions. Sets PSRAM of `machine` such that the weight tiles
/// fit, often barely.
Program random_program(Dice& dice, Machine& machine);

/// A class of any kind: a product, row-wise work, an attention, strips; its results turned, its heads spread over
/// cores now and then.
InstructionClass random_class(Dice& dice);

/// A product of that nest, cut into at most a few thousand tiles; operands anywhere, anything fused to it.
InstructionClass random_product(Dice& dice, Family family, const LoopNest& nest, bool weighted);

/// Largest and smallest weight tile of a class (what it holds among the smallest), what it holds, all of its
/// weights, in PSRAM bytes.
struct ClassWeights {
  std::int64_t tile = 0, least = 0, held = 0, all = 0;
};
ClassWeights weights_of(const InstructionClass& c, const Machine& machine);

/// Where each family has a DSRAM pair: operands on chip in any pair, that of the circuit or another; what runs
/// after what.
void draw_pairs(Dice& dice, const Machine& machine, Program& program);

}  // namespace sdip
