// Whether each rule of the house lets right code pass and finds a breach.
#include "tests/layout/rules.h"

#include <gmock/gmock.h>

namespace sdip::layout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> order = {"core/base", "core/ops",     "core/ops/moves", "core/ops/rows", "core/cost",
                                        "core/exec", "core/explore", "server/io",      "server/api"};

Complaints arrows_of(const std::string& path, const std::string& included) {
  return against_arrows({path, "#include \"" + included + "\"\n"}, order);
}

std::string lines(std::size_t count) {
  std::string text;
  while (count-- > 0) text += "x\n";
  return text;
}

TEST(rules, core_folders_are_read_from_the_one_list) {
  EXPECT_THAT(folders_listed("# a\nset(SDIP_CORE_FOLDERS base\n  ops)\n", "core"),
              ElementsAre("core/base", "core/ops"));
  EXPECT_THAT(folders_listed("set(OTHER base)", "core"), IsEmpty());
}

TEST(rules, a_folder_of_core_includes_itself_and_earlier_ones_only) {
  EXPECT_THAT(arrows_of("core/ops/a.cpp", "core/ops/a.h"), IsEmpty());
  EXPECT_THAT(arrows_of("core/ops/a.cpp", "core/base/a.h"), IsEmpty());
  EXPECT_THAT(arrows_of("core/ops/a.cpp", "core/cost/a.h"), ElementsAre(HasSubstr("comes later")));
  EXPECT_THAT(arrows_of("core/ops/a.cpp", "core/sdip.h"), ElementsAre(HasSubstr("comes later")));
  EXPECT_THAT(arrows_of("core/sdip.h", "core/explore/a.h"), IsEmpty());
}

TEST(rules, a_folder_of_core_that_is_not_listed_is_found) {
  EXPECT_THAT(arrows_of("core/other/a.cpp", "core/base/a.h"), ElementsAre(HasSubstr("does not list core/other")));
}

TEST(rules, a_room_includes_its_folder_and_earlier_rooms_only) {
  EXPECT_THAT(arrows_of("core/ops/rows/a.cpp", "core/ops/moves/a.h"), IsEmpty());
  EXPECT_THAT(arrows_of("core/ops/rows/a.cpp", "core/ops/a.h"), IsEmpty());
  EXPECT_THAT(arrows_of("core/cost/a.cpp", "core/ops/rows/a.h"), IsEmpty());
  EXPECT_THAT(arrows_of("server/api/a.cpp", "server/io/a.h"), IsEmpty());
  EXPECT_THAT(arrows_of("core/ops/moves/a.cpp", "core/ops/rows/a.h"), ElementsAre(HasSubstr("comes later")));
  EXPECT_THAT(arrows_of("core/ops/a.cpp", "core/ops/rows/a.h"), ElementsAre(HasSubstr("comes later")));
  EXPECT_THAT(arrows_of("server/io/a.cpp", "server/api/a.h"), ElementsAre(HasSubstr("comes later")));
  EXPECT_THAT(arrows_of("core/ops/other/a.cpp", "core/ops/a.h"), ElementsAre(HasSubstr("not list core/ops/other")));
}

TEST(rules, a_folder_of_more_than_40_sources_is_found) {
  std::vector<Source> sources;
  for (int i = 0; i < 41; ++i) sources.push_back({"core/ops/a" + std::to_string(i) + ".cpp", ""});
  EXPECT_THAT(against_full_folders(sources), ElementsAre(HasSubstr("core/ops: 41")));
  sources.back().path = "core/ops/rows/a.cpp";
  EXPECT_THAT(against_full_folders(sources), IsEmpty());
}

TEST(rules, core_db_and_server_point_one_way) {
  EXPECT_THAT(arrows_of("db/a.cpp", "core/explore/a.h"), IsEmpty());
  EXPECT_THAT(arrows_of("server/io/a.cpp", "db/a.h"), IsEmpty());
  EXPECT_THAT(arrows_of("core/base/a.h", "db/a.h"), ElementsAre(HasSubstr("core <- db <- server")));
  EXPECT_THAT(arrows_of("db/a.cpp", "server/a.h"), ElementsAre(HasSubstr("core <- db <- server")));
}

TEST(rules, internal_headers_are_included_within_their_room_or_library) {
  const Source room{"core/cost/time/a.h", "// A. Internal to its\n// room.\n#pragma once\n"},
      library{"core/cost/time/b.h", "// B. Internal to its library.\n#pragma once\n"};
  const auto complaints = [&](const std::string& path, const std::string& included) {
    return against_internal_includes({room, library, {path, "#include \"" + included + "\"\n"}});
  };
  EXPECT_THAT(complaints("core/cost/time/c.cpp", room.path), IsEmpty());
  EXPECT_THAT(complaints("core/cost/price/c.cpp", room.path), ElementsAre(HasSubstr("internal to core/cost/time")));
  EXPECT_THAT(complaints("core/cost/price/c.cpp", library.path), IsEmpty());
  EXPECT_THAT(complaints("core/explore/c.cpp", library.path), ElementsAre(HasSubstr("internal to core/cost")));
  EXPECT_THAT(complaints("tests/core/cost/c.cpp", room.path), IsEmpty());
}

TEST(rules, cost_and_exec_never_meet) {
  EXPECT_THAT(arrows_of("core/exec/a.cpp", "core/cost/a.h"), ElementsAre(HasSubstr("independent")));
  EXPECT_THAT(against_arrows({"core/cost/a.cpp", "#include \"core/exec/a.h\"\n"}, {"core/exec", "core/cost"}),
              ElementsAre(HasSubstr("independent")));
}

TEST(rules, exec_and_cost_share_the_program_and_nothing_that_counts) {
  const auto shared = [](const std::string& path, const std::string& included) {
    return against_shared_counts({path, "#include \"core/program/" + included + "\"\n"});
  };
  for (const char* path : {"core/exec/a.cpp", "core/cost/a.cpp"}) {
    EXPECT_THAT(shared(path, "program.h"), IsEmpty());
    EXPECT_THAT(shared(path, "kinds.h"), IsEmpty());
    for (const char* counting : {"tiling/tiles.h", "traffic.h", "tiling/tiling.h", "tiling/strips.h"})
      EXPECT_THAT(shared(path, counting), ElementsAre(HasSubstr("nothing that counts"))) << counting;
  }
  EXPECT_THAT(shared("core/exec/a.cpp", "weights/weights.h"), IsEmpty());
  EXPECT_THAT(shared("core/cost/a.cpp", "weights/weights.h"), ElementsAre(HasSubstr("nothing that counts")));
  EXPECT_THAT(shared("core/program/a.cpp", "tiles.h"), IsEmpty());
  EXPECT_THAT(shared("core/program/weights/weights.h", "tiles.h"), ElementsAre(HasSubstr("nothing that counts")));
}

TEST(rules, quoted_includes_are_paths_from_the_root) {
  const auto exists = [](const std::string& path) { return path == "core/base/units.h"; };
  EXPECT_THAT(against_root_includes({"a.cpp", "#include \"core/base/units.h\"\n#include <map>\n"}, exists),
              IsEmpty());
  EXPECT_THAT(against_root_includes({"a.cpp", "#include \"units.h\"\n"}, exists),
              ElementsAre(HasSubstr("units.h")));
}

TEST(rules, core_neither_prints_nor_reads_files_nor_asks_the_time) {
  for (const char* text :
       {"#include <fstream>\n", "std::cout << a;", "printf(\"a\");", "std::exit(1);", "std::getenv(\"A\");",
        "std::chrono::steady_clock::now();", "std::random_device r;", "std::rand();"}) {
    EXPECT_EQ(against_pure_core({"core/base/a.cpp", text}).size(), 1U) << text;
    EXPECT_THAT(against_pure_core({"server/a.cpp", text}), IsEmpty()) << text;
  }
  EXPECT_THAT(against_pure_core(
                  {"core/base/a.cpp", "std::snprintf(a, 2, \"b\"); int exit = 1; node.exit(); Cycles rand();"}),
              IsEmpty());
}

TEST(rules, algorithms_that_return_a_subrange_are_found) {
  EXPECT_THAT(against_subranges({"core/base/a.cpp", "int a;\nv.erase(std::ranges::unique(v).begin(), v.end());"}),
              ElementsAre(HasSubstr("a.cpp:2")));
  EXPECT_THAT(against_subranges({"core/base/a.cpp", "std::unique(a, b); std::ranges::partition_point(v, p);"}),
              IsEmpty());
}

TEST(rules, empty_names_are_found_and_foreign_ones_let_pass) {
  for (const char* text : {"class JobManager", "void string_util()", "struct Impl", "int get_size()"}) {
    EXPECT_EQ(against_empty_names({"core/base/a.h", text}).size(), 1U) << text;
  }
  const std::string fine =
      "void get_socket() override;\nutilization implicit std::get_if<int>(&v) json.get_ref() \n// Helper";
  EXPECT_THAT(against_empty_names({"core/base/a.h", fine}), IsEmpty());
}

TEST(rules, marks_of_unfinished_work_are_found_in_comments_too) {
  const std::string mark = std::string("TO") + "DO";
  EXPECT_THAT(against_marks({"a.cpp", "int a;\n// " + mark + ": b\n"}), ElementsAre(HasSubstr("a.cpp:2")));
  EXPECT_THAT(against_marks({"a.cpp", "// done\nmkstemp(\".new-XXXXXX\"); int todo;\n"}), IsEmpty());
}

TEST(rules, two_types_of_one_name_are_found_unless_a_namespace_hides_them) {
  const auto both = [](const std::string& one, const std::string& other) {
    return against_double_types({{"core/a.cpp", one}, {"server/b.cpp", other}});
  };
  const std::string shown = "namespace sdip {\nstruct Row {\n  int a;\n};\n}\n";
  EXPECT_THAT(both(shown, "#include <a>\nnamespace sdip {\nclass Row : Other { void f() {} };\n}\n"),
              ElementsAre("server/b.cpp:3: sdip::Row is a type of core/a.cpp:2, too"));
  EXPECT_THAT(both(shown, "namespace sdip {\nenum class Row : int { a, b };\n}\n"), testing::SizeIs(1));
  for (const char* other :
       {"namespace sdip {\nnamespace {\nstruct Row {};\n}\n}\n", "namespace sdip::exec {\nstruct Row {};\n}\n",
        "namespace sdip {\nstruct Row;\nstruct Other::Row {\n};\nstruct Other {\n  struct Row {};\n};\nvoid f() { "
        "struct Row {}; }\n}\n"})
    EXPECT_THAT(both(shown, other), IsEmpty()) << other;
}

TEST(rules, a_code_of_an_error_that_is_nowhere_said_is_found) {
  const std::string said = "codes: `not_found`, `disk_full`";
  EXPECT_THAT(against_unsaid_codes({"core/a.cpp", "throw Error(\"not_found\", where, \"what\");"}, said),
              IsEmpty());
  EXPECT_THAT(against_unsaid_codes(
                  {"core/a.cpp", "int a;\nthrow Error(full ? \"disk_full\" : \"gone\", where, \"x\");"}, said),
              ElementsAre("core/a.cpp:2: docs/api.md does not say the code gone"));
  EXPECT_THAT(against_unsaid_codes({"core/a.h", "/// Throws Error(\"lost\", ...).\n"}, said), IsEmpty());
}

TEST(rules, a_sentence_of_a_comment_that_begins_with_of_is_found) {
  const auto found = [](const char* text) { return against_sentences_with_of({"core/base/a.h", text}); };
  for (const char* text : {"/// Of both.\n", "  // Sums. Of a product\n", "int a;  // Bytes. (Of all.)\n",
                           "// Whole bursts. Of\n// weights all.\n"})
    EXPECT_THAT(found(text), ElementsAre("core/base/a.h:1: a sentence that begins with Of: say what it is"))
        << text;
  EXPECT_THAT(found("/// The sum of both. Offsets are OfType.\nint a;  // of both\nauto b = \"Of both\";\n"),
              IsEmpty());
  EXPECT_THAT(against_sentences_with_of({"tests/a.cpp", "// Of both.\n"}), testing::SizeIs(1));
}

TEST(rules, the_first_line_is_a_comment_that_says_something) {
  EXPECT_THAT(against_first_line({"a.cpp", "// The unit types.\n#pragma once\n"}), IsEmpty());
  EXPECT_EQ(against_first_line({"a.cpp", "#pragma once\n"}).size(), 1U);
  EXPECT_EQ(against_first_line({"a.cpp", "// a\n"}).size(), 1U);
  EXPECT_EQ(against_first_line({"a.cpp", ""}).size(), 1U);
}

TEST(rules, files_of_up_to_500_lines_pass_when_most_are_short) {
  std::vector<Source> sources(9, {"short.cpp", lines(130)});
  sources.push_back({"long.cpp", lines(500)});
  EXPECT_THAT(against_long_files(sources), IsEmpty());
  sources.back().text = lines(501);
  EXPECT_THAT(against_long_files(sources), ElementsAre(HasSubstr("long.cpp:501")));
}

TEST(rules, generated_files_may_be_long) {
  EXPECT_THAT(against_long_files({{"a.d.ts", "// Generated by npm run api.\n" + lines(600)}}), IsEmpty());
}

TEST(rules, one_file_in_ten_may_have_300_lines_and_not_two) {
  std::vector<Source> sources(8, {"short.cpp", lines(10)});
  sources.resize(10, {"long.cpp", lines(300)});
  EXPECT_THAT(against_long_files(sources), ElementsAre(HasSubstr("8 of 10")));
}

TEST(rules, the_median_file_is_short) {
  EXPECT_THAT(against_long_files({3, {"middling.cpp", lines(131)}}), ElementsAre(HasSubstr("131 lines")));
}

TEST(rules, a_function_of_70_lines_passes_and_one_of_71_does_not) {
  const auto function = [](std::size_t body) {
    std::string text = "namespace a {\nstruct B {\n  int c;\n};\nint f(int b,\n      int c) {\n";
    for (std::size_t i = 0; i < body; ++i) text += "  g();\n";
    return Source{"core/base/a.cpp", text + "}\n}  // namespace a\n"};
  };
  EXPECT_THAT(against_long_functions(function(67)), IsEmpty());
  EXPECT_THAT(against_long_functions(function(68)), ElementsAre(HasSubstr("a.cpp:5: a function of 71 lines")));
}

TEST(rules, a_long_table_is_no_function) {
  std::string text = "constexpr int table[] = {\n";
  for (int i = 0; i < 100; ++i) text += "    1,\n";
  EXPECT_THAT(against_long_functions({"core/base/a.h", text + "};\n"}), IsEmpty());
}

}  // namespace
}  // namespace sdip::layout
