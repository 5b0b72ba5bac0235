// Parts of the documentation that are made from tables: compared with the file, or written when SDIP_UPDATE_DOCS=1.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace sdip {

/// Expects docs/`file` to hold, between the line "<!-- `name`: made from `source` -->" and "<!-- end -->", exactly
/// `text`. With SDIP_UPDATE_DOCS=1 puts it there instead.
inline void expect_made_section(const std::string& file, const std::string& name, const std::string& source,
                                const std::string& text) {
  const std::string path = std::string(SDIP_SOURCE_DIR) + "/docs/" + file;
  std::stringstream stream;
  stream << std::ifstream(path).rdbuf();
  const std::string document = stream.str();
  const std::string first = "<!-- " + name + ": made from " + source + " -->\n", last = "<!-- end -->";
  const std::size_t mark = document.find(first);
  ASSERT_NE(mark, std::string::npos) << path << ": no line " << first;
  const std::size_t begin = mark + first.size(), end = document.find(last, begin);
  ASSERT_NE(end, std::string::npos) << path << ": no line " << last << " after " << first;
  if (const char* update = std::getenv("SDIP_UPDATE_DOCS"); update && std::string(update) == "1") {
    std::ofstream(path) << document.substr(0, begin) << text << document.substr(end);
    return;
  }
  EXPECT_EQ(document.substr(begin, end - begin), text)
      << path << " is not what the table says; SDIP_UPDATE_DOCS=1 writes it";
}

}  // namespace sdip
