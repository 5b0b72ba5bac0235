// Marks of a program where each operator family has a DSRAM pair: in which pair an operand lies, and which
// instructions must have retired before one starts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/program/program.h"
#include "core/program/tiling/draft.h"

namespace sdip {

/// Gives the operands of a class the pairs in which the instruction's sources lie; the sources stand in the order
/// of the class's operands. An operand that is not in DSRAM has none.
void give_pairs(const std::vector<PlacedOperand>& sources, InstructionClass& c);

/// A program on its way, `families` those of its instructions' classes; `roots` by value: the value whose bytes it
/// shares.
struct Marking {
  const Graph& graph;
  const Machine& machine;
  View<const ValueId> roots;
  const Joined& joined;
  View<Instruction> instructions;
  View<const InstructionClass* const> classes;
};

/// Marks not yet said: they are derived.
inline const std::vector<std::int32_t> unsaid_marks{-1};

/// Instruction::after where it is unsaid: the fewest marks such that an instruction which starts when those it
/// names have retired finds what it reads and overwrites nothing that is still read. Those said must be enough:
/// else calls `refuse`, which throws, with the instruction's number and the reason. Requires a machine that
/// has_pairs, instructions in a valid order and addresses below 2^50.
void mark(const Marking& program, const std::function<void(std::size_t, const std::string&)>& refuse);

}  // namespace sdip
