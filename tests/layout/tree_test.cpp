// Whether this repository keeps the rules of the house: every source, and the one list of packages.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "tests/layout/rules.h"

namespace sdip::layout {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string root = SDIP_SOURCE_DIR;

const std::vector<Source>& sources() {
  static const std::vector<Source> read = sources_below(root, {"core", "db", "server", "web/src", "tests"});
  return read;
}

/// The complaints of a rule over all sources, one a line: what a failing test prints.
template <class Rule>
std::string complaints_of(Rule rule) {
  std::string all;
  for (const Source& source : sources()) {
    for (const std::string& complaint : rule(source)) all += complaint + "\n";
  }
  return all;
}

TEST(tree, sources_are_where_they_are_expected) { EXPECT_GT(sources().size(), 5U); }

/// The folders that core and server list.
std::vector<std::string> listed_folders() {
  std::vector<std::string> folders = folders_listed(read_text(root + "/core/CMakeLists.txt"), "core");
  for (const std::string& folder : folders_listed(read_text(root + "/server/CMakeLists.txt"), "server"))
    folders.push_back(folder);
  return folders;
}

TEST(tree, includes_follow_the_arrows) {
  const auto folders = listed_folders();
  ASSERT_THAT(folders, Not(IsEmpty()));
  EXPECT_EQ(complaints_of([&](const Source& source) { return against_arrows(source, folders); }), "");
}

TEST(tree, program_cost_and_exec_share_nothing_that_counts) { EXPECT_EQ(complaints_of(against_shared_counts), ""); }

TEST(tree, internal_headers_stay_where_they_are) {
  std::string all;
  for (const std::string& complaint : against_internal_includes(sources())) all += complaint + "\n";
  EXPECT_EQ(all, "");
}

TEST(tree, includes_are_written_from_the_root) {
  const auto exists = [](const std::string& path) { return std::filesystem::exists(root + "/" + path); };
  EXPECT_EQ(complaints_of([&](const Source& source) { return against_root_includes(source, exists); }), "");
}

TEST(tree, core_is_bytes_in_values_out) { EXPECT_EQ(complaints_of(against_pure_core), ""); }

TEST(tree, clang_14_builds_what_algorithms_return) { EXPECT_EQ(complaints_of(against_subranges), ""); }

TEST(tree, names_say_something) { EXPECT_EQ(complaints_of(against_empty_names), ""); }

TEST(tree, nothing_is_marked_unfinished) { EXPECT_EQ(complaints_of(against_marks), ""); }

TEST(tree, the_codes_of_errors_are_documented) {
  const std::string said = read_text(root + "/docs/api.md");
  EXPECT_EQ(complaints_of([&](const Source& source) {
              return source.path.starts_with("tests/") || source.path.starts_with("web/")
                         ? Complaints{}
                         : against_unsaid_codes(source, said);
            }),
            "");
}

TEST(tree, a_type_is_defined_once) {
  std::vector<Source> product;
  for (const Source& source : sources())
    if (!source.path.starts_with("tests/") && !source.path.starts_with("web/")) product.push_back(source);
  std::string all;
  for (const std::string& complaint : against_double_types(product)) all += complaint + "\n";
  EXPECT_EQ(all, "");
}

TEST(tree, no_sentence_of_a_comment_begins_with_of) { EXPECT_EQ(complaints_of(against_sentences_with_of), ""); }

TEST(tree, first_lines_say_what_a_file_is) { EXPECT_EQ(complaints_of(against_first_line), ""); }

TEST(tree, functions_are_short) { EXPECT_EQ(complaints_of(against_long_functions), ""); }

TEST(tree, files_are_short) {
  std::string all;
  for (const std::string& complaint : against_long_files(sources())) all += complaint + "\n";
  EXPECT_EQ(all, "");
}

TEST(tree, every_folder_of_core_and_server_is_listed) {
  const std::vector<std::string> listed = listed_folders();
  for (const Source& source : sources()) {
    const std::string folder = source.path.substr(0, source.path.rfind('/'));
    if ((source.path.starts_with("core/") || source.path.starts_with("server/")) && folder != "core") {
      EXPECT_THAT(listed, testing::Contains(folder));
    }
  }
}

TEST(tree, folders_are_rooms_that_can_be_seen) {
  std::string all;
  for (const std::string& complaint : against_full_folders(sources())) all += complaint + "\n";
  EXPECT_EQ(all, "");
}

TEST(tree, packages_stand_in_one_list_that_all_use) {
  for (const char* file : {"/scripts/packages.sh", "/docker/Dockerfile"}) {
    EXPECT_THAT(read_text(root + file), HasSubstr("docker/packages.txt")) << file;
  }
  for (const char* file : {"/start", "/test", "/docker/Dockerfile"}) {
    EXPECT_THAT(read_text(root + file), HasSubstr("scripts/packages.sh")) << file;
    EXPECT_THAT(read_text(root + file), Not(HasSubstr("apt-get install"))) << file;
  }
}

TEST(tree, the_package_list_names_one_package_a_line_and_none_twice) {
  std::set<std::string> seen;
  std::istringstream list(read_text(root + "/docker/packages.txt"));
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    std::string more;
    if (!(words >> name)) continue;
    EXPECT_FALSE(words >> more) << line;
    EXPECT_TRUE(seen.insert(name).second) << line;
  }
  EXPECT_THAT(seen, testing::IsSupersetOf({"[start]", "[node]", "[test]", "[full]", "[runtime]", "cmake", "g++"}));
}

}  // namespace
}  // namespace sdip::layout
