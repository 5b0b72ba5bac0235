// Processes for tests.
#include "tests/server/running.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace sdip::test {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sdip-test-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) std::abort();
  path = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

pid_t start_sdip(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                 std::vector<std::string> environment) {
  std::vector<std::string> words = {SDIP_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string out = (folder / "out").string(), err = (folder / "err").string();
  const pid_t process = ::fork();
  if (process < 0) std::abort();  // a test would signal -1: every process of this user
  if (process != 0) return process;
  ::dup2(::open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), 1);
  ::dup2(::open(err.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), 2);
  for (std::string& one : environment) ::putenv(one.data());
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

Ended wait_for(pid_t process, const std::filesystem::path& folder) {
  int status = 0;
  ::waitpid(process, &status, 0);
  Ended ended;
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = file_text(folder / "out");
  ended.err = file_text(folder / "err");
  return ended;
}

Ended run_sdip(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  return wait_for(start_sdip(arguments, folder.path), folder.path);
}

Ended run_on_essay(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--preset", "essay"});
  return run_sdip(arguments);
}

}  // namespace sdip::test
