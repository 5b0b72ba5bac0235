// Whether the container's last stage, which installs the section [runtime] and nothing else, can load the program.
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "tests/scripts/shell.h"

namespace sdip::scripts {
namespace {

std::set<std::string> words_in(const std::string& text) {
  std::istringstream words(text);
  std::set<std::string> found;
  for (std::string word; words >> word;) found.insert(word);
  return found;
}

TEST(runtime, packages_hold_every_library_the_program_needs) {
  // What the listed packages themselves depend on, or what every Debian has.
  std::set<std::string> packages = {"libc6", "libgcc-s1", "libstdc++6"};
  packages.merge(words_in(run(". scripts/packages.sh; packages_of runtime").output));
  const auto libraries =
      words_in(run("objdump -p " SDIP_BINARY " | awk \"\\$1 == \\\"NEEDED\\\" { print \\$2 }\"").output);
  ASSERT_THAT(libraries, testing::Contains(testing::StartsWith("libc.so")));
  for (const std::string& library : libraries) {
    if (library.starts_with("libasan") || library.starts_with("libtsan") || library.starts_with("libubsan"))
      continue;
    const std::string owners = run("dpkg -S \"*/" + library + "\" | cut -d: -f1").output;
    std::set<std::string> owned = words_in(owners);
    std::erase_if(owned, [&](const std::string& package) { return !packages.contains(package); });
    EXPECT_FALSE(owned.empty()) << library << " is in none of the packages of [runtime], but in: " << owners;
  }
}

}  // namespace
}  // namespace sdip::scripts
