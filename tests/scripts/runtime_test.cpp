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
  std::set<std::string> libraries =
      words_in(run("objdump -p " SDIP_BINARY " | awk \"\\$1 == \\\"NEEDED\\\" { print \\$2 }\"").output);
  ASSERT_THAT(libraries, testing::Contains(testing::StartsWith("libc.so")));
  std::erase_if(libraries, [](const std::string& library) {
    return library.starts_with("libasan") || library.starts_with("libtsan") || library.starts_with("libubsan");
  });
  std::string patterns;
  for (const std::string& library : libraries) patterns += " \"*/" + library + "\"";
  std::istringstream owners(run("dpkg -S" + patterns).output);  // one run: it reads every package's list
  std::set<std::string> owned;
  for (std::string line; std::getline(owners, line);)
    if (packages.contains(line.substr(0, line.find(':')))) owned.insert(line.substr(line.rfind('/') + 1));
  EXPECT_EQ(owned, libraries) << "in none of the packages of [runtime] are some, but in:\n" << owners.str();
}

}  // namespace
}  // namespace sdip::scripts
