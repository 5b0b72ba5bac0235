// Files of external data: only what really lies in the model's own folder is opened.
#include "server/io/external_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

/// A folder "model" with a file, and a secret beside the folder.
struct Layout {
  TemporaryFolder folder;
  std::filesystem::path model = folder / "model";

  Layout() {
    std::filesystem::create_directories(model / "parts/inner");
    write_file(folder / "secret", "secret");
    write_file(model / "w.bin", "weights");
    write_file(model / "parts/inner/w.bin", "parts");
  }
};

class external_files : public testing::TestWithParam<PathWalk> {
 protected:
  /// "" when the file is opened, else why not.
  std::string refusal(const std::string& location) {
    try {
      map_external_file(layout.model, location, GetParam());
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  Layout layout;
};

TEST_P(external_files, in_the_folder_or_below_are_mapped) {
  const auto bytes = map_external_file(layout.model, "parts/inner/w.bin", GetParam())->bytes();
  EXPECT_EQ(bytes.size(), 5u);
  EXPECT_EQ(refusal("w.bin"), "");
}

TEST_P(external_files, named_by_a_path_that_leads_elsewhere_are_refused) {
  for (const std::string& location :
       {std::string("/etc/passwd"), std::string("../secret"), std::string("parts/../../secret"), std::string(),
        std::string("."), std::string(".."), std::string("parts//inner/w.bin"), std::string("./w.bin"),
        std::string("w.bin\0x", 7), std::string("w.bin/")}) {
    EXPECT_NE(refusal(location).find("plain name"), std::string::npos) << location << ": " << refusal(location);
  }
  EXPECT_NE(refusal("absent.bin").find("no such file"), std::string::npos);
}

TEST_P(external_files, that_are_links_are_refused) {
  std::filesystem::create_symlink("w.bin", layout.model / "inside");
  std::filesystem::create_symlink("../secret", layout.model / "outside");
  std::filesystem::create_directory_symlink("..", layout.model / "up");
  std::filesystem::create_directory_symlink("parts", layout.model / "same");
  for (const char* location : {"inside", "outside", "up/secret", "same/inner/w.bin"}) {
    EXPECT_NE(refusal(location), "") << location;
  }
  std::filesystem::create_hard_link(layout.folder / "secret", layout.model / "hard");
  EXPECT_NE(refusal("hard").find("hard link"), std::string::npos);
}

TEST_P(external_files, that_are_no_regular_files_are_refused_without_waiting) {
  ASSERT_EQ(::mkfifo((layout.model / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal("pipe").find("not a regular file"), std::string::npos);
  EXPECT_NE(refusal("parts").find("not a regular file"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(both, external_files, testing::Values(PathWalk::by_kernel, PathWalk::by_directory),
                         [](const auto& walk) {
                           return std::string(walk.param == PathWalk::by_kernel ? "by_kernel" : "by_directory");
                         });

}  // namespace
}  // namespace sdip::test
