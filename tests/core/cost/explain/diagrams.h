// The diagrams of docs/model/diagrams.md, drawn by hand, read as a program, a machine and what each cycle is spent
// on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip {

/// One diagram. `lanes`: what is drawn behind a bar, a character a cycle, by the name before it: "i0", "W", "A",
/// "O", "P", "compute", "read", "write", "push", "pop", "weights".
struct Diagram {
  std::string title;
  Machine machine;
  Program program;
  std::int64_t cores = 1, pass = 1;          // in lockstep; which pass from cold is drawn, from 1
  std::int64_t dram_bytes_hundredths = 100;  // a cycle
  std::map<std::string, std::string> lanes;
};

/// All diagrams of a text. Throws std::runtime_error with the line for what it cannot read.
std::vector<Diagram> diagrams_in(const std::string& text);

}  // namespace sdip
