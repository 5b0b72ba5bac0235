// A child process that reads what is not trusted: limits on memory, time and system calls, and a bounded answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sdip {

struct ChildLimits {
  std::int64_t memory_bytes = std::int64_t{2} << 30;  // of address space, the file's own size besides
  std::int64_t cpu_s = 30, wall_s = 60;
  std::int64_t answer_bytes = 128 << 20;
};

/// The running program itself.
inline constexpr const char* this_program = "/proc/self/exe";
/// The subcommand that a child is started with: `sdip read-model`, not shown by --help.
inline constexpr const char* child_command = "read-model";

/// Starts `program read-model` with standard input holding `request`, standard output a pipe, descriptor 3 `file`
/// opened for reading, and nothing else; returns what it wrote. Throws Error("import_failed", label, ...) when it
/// ends by a signal, does not end in time or writes too much, saying which limit it met; ("sandbox_unavailable",
/// ...) when it cannot be started or could not limit itself; and what opening the file throws.
std::string answer_of_child(const std::filesystem::path& program, const std::filesystem::path& file,
                            const std::string& request, const std::string& label, const ChildLimits& limits);

/// What descriptor 3 of a child is.
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
