// Runs a line of bash in the repository's root and gives what it printed.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace sdip::scripts {

struct Ran {
  int status;
  std::string output;  // standard output and standard error together
};

/// Requires that `command` holds no single quote. Throws std::runtime_error when no shell can be started.
inline Ran run(const std::string& command) {
  const std::string line = "cd '" SDIP_SOURCE_DIR "' && exec bash -c '" + command + "' 2>&1 < /dev/null";
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  Ran ran{0, ""};
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) ran.output += static_cast<char>(c);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

}  // namespace sdip::scripts
