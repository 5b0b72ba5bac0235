// Running the program `sdip` from a test, and a folder that goes away with it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sdip::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path path;
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

struct Ended {
  int exit_code = -1;  // 128 + signal when one ended it
  std::string out, err;
};

/// Starts `sdip` with these arguments, its output into files of `folder`; `environment`: NAME=VALUE that it has
/// besides. Returns the process id.
pid_t start_sdip(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                 std::vector<std::string> environment = {});
/// Waits for it and reads what it wrote.
Ended wait_for(pid_t process, const std::filesystem::path& folder);
/// Both.
Ended run_sdip(const std::vector<std::string>& arguments);
/// On the preset essay: one stage a network, in fp16.
Ended run_on_essay(std::vector<std::string> arguments);

std::string file_text(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace sdip::test
