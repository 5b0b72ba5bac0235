// Files: there whole or not at all.
#include "server/io/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "core/base/error.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

std::string code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code;
  }
  return "none";
}

std::size_t entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// While it lives no file may grow beyond `bytes`: what a full disk looks like.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit small = old_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

TEST(files, a_new_file_takes_the_place_of_no_pipe_and_no_link) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe", link = folder / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  NewFile written(pipe);
  written.write("through");
  written.keep();
  char bytes[16] = {};
  EXPECT_EQ(::read(reader, bytes, sizeof bytes), 7);
  EXPECT_STREQ(bytes, "through");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  NewFile(folder / "target").keep();
  std::filesystem::create_symlink("target", link);
  NewFile linked(link);
  linked.write("behind it");
  linked.keep();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_text(folder / "target"), "behind it");
}

TEST(files, a_new_file_appears_only_when_kept) {
  const TemporaryFolder folder;
  {
    NewFile dropped(folder / "a");
    dropped.write("x");
    EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  }
  EXPECT_EQ(entries(folder.path), 0U);
  NewFile kept(folder / "a");
  kept.write("whole");
  kept.keep();
  EXPECT_EQ(read_text(folder / "a"), "whole");
  EXPECT_EQ(entries(folder.path), 1U);
}

TEST(files, a_full_disk_is_an_error_and_leaves_nothing) {
  const TemporaryFolder folder;
  const FullDisk full(1000);
  EXPECT_EQ(code_of([&] { NewFile(folder / "a").write(std::string(5000, 'x')); }), "disk_full");
  EXPECT_EQ(entries(folder.path), 0U);
}

TEST(files, a_limit_on_their_size_is_told_and_no_death) {
  const TemporaryFolder folder;
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = 16384;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const pid_t process =
      start_sdip({"sweep", "tiny-sd", "--axis", "cores=1,2", "--data", folder / "data"}, folder.path);
  ::setrlimit(RLIMIT_FSIZE, &old);
  const Ended ended = wait_for(process, folder.path);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err.substr(0, 16), "sdip: disk_full:");
}

TEST(files, absent_and_unsuitable_files_are_told_apart) {
  const TemporaryFolder folder;
  EXPECT_EQ(code_of([&] { MappedFile file(folder / "absent"); }), "file_not_found");
  EXPECT_EQ(code_of([&] { MappedFile file(folder.path); }), "file_unreadable");
  EXPECT_EQ(code_of([&] { NewFile file(folder / "no/such/folder"); }), "file_unwritable");
  write_file(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

TEST(files, sha256_of_a_known_text) {
  const std::string text = "abc";  // FIPS 180-2, appendix B.1
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(text))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace sdip::test
