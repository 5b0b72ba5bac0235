// pass `depend`: what each instruction waits for, where others may run beside it.
#include "core/base/error.h"
#include "core/program/compile/passes.h"
#include "core/program/form/marks.h"

namespace sdip {

void depend(Compilation& c) {
  if (!has_pairs(c.machine)) return;
  std::vector<const InstructionClass*> classes;
  for (const InstructionClass& one : c.placement.classes_of_drafts) classes.push_back(&one);
  for (Instruction& instruction : c.placement.instructions) instruction.after = unsaid_marks;
  mark({*c.graph, c.machine, c.roots, c.joined, c.placement.instructions, classes},
       [](std::size_t, const std::string& what) { check(false, what.c_str()); });
}

}  // namespace sdip
