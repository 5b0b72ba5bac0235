// The program `sdip`: reads the command line, runs one command, turns what it throws into a line and an exit code.
// Internal to its room.
#pragma once

namespace sdip {

/// Returns the exit code.
int run_program(int argc, char** argv);

}  // namespace sdip
