// A child process that works on what is not trusted: limits on memory, time and system calls, and a bounded answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/stop.h"

namespace sdip {

struct ChildLimits {
  std::int64_t memory_bytes = std::int64_t{2} << 30;  // of address space, the file's own size besides
  std::int64_t cpu_s = 30;                            // 0: as long as it goes on saying something
  std::int64_t wall_s = 60;                           // from one thing that it says to the next
  std::int64_t answer_bytes = 128 << 20;              // of each of them
  std::int64_t threads = 1;
};

/// The running program itself.
inline constexpr const char* this_program = "/proc/self/exe";
/// The subcommand that a child is started with: `sdip evaluate`, not shown by --help.
inline constexpr const char* child_command = "evaluate";

/// The kinds of messages from a child. Each is a kind, a length of 8 bytes, little-endian, and so many bytes.
enum class Saying : char { shown = 'p', answer = 'a', error = 'e', no_memory = 'm', bug = 'b' };
/// As those bytes.
std::string said_text(Saying kind, std::string_view bytes);

/// The task of a child, and what goes on meanwhile.
struct ChildTask {
  std::filesystem::path program, file;
  std::string request;                        // on its standard input
  std::string label;                          // what the file is called
  std::string failure = "evaluation_failed";  // the code of its failing
  ChildLimits limits = {};
  std::function<void(std::string_view)> show = {};  // what it says before its answer; none: that is nonsense
  Stop stop = {};
};

/// Starts `program evaluate` with standard input holding the request, standard output a pipe, descriptor 3 the
/// file opened for reading, and nothing else; returns what it said last, which is no `shown`. Throws Error(failure,
/// label, ...) when it ends by a signal, does not go on in time, says too much or nonsense, saying which limit it
/// met; ("cancelled", ...) when `stop` says so, the child then being gone; ("sandbox_unavailable", ...) when it
/// cannot be started or could not limit itself; and what opening the file and `show` throw.
std::pair<Saying, std::string> answer_of_child(const ChildTask& task);

/// The descriptor in which a child finds its file.
inline constexpr int child_file = 3;
/// Exit code of a child that could not limit itself.
inline constexpr int exit_unconfined = 77;

/// In the child: gives up for good what reading memory and writing to standard output do not need. From then on an
/// allocation beyond the limit throws std::bad_alloc, other limits and system calls kill. Ends the process with
/// exit_unconfined when that cannot be had. Builds with a sanitizer, which reserve terabytes and make calls of
/// their own, get only the limits on time and files.
void confine(const ChildLimits& limits, std::int64_t file_bytes);

/// Whether this build limits memory and system calls.
bool confines_fully();

}  // namespace sdip
