// The rules of the documents: a page or section that a text names exists, and docs/model is a book one can read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/layout/rules.h"

namespace sdip::layout {

/// For each page, by its path from the repository root, the anchors of its headings as GitHub makes them.
using Pages = std::map<std::string, std::set<std::string>>;

/// "How it is **done**, in `core`" is "how-it-is-done-in-core".
std::string anchor_of(std::string_view heading);

Pages pages_of(const std::vector<Source>& documents);

/// Pages of the house that a text names, as docs/api.md or docs/api.md#errors, are there. In a page itself also
/// what its links to other pages and sections name. Names with capitals (but README) are others' documents.
Complaints against_missing_sections(const Source& source, const Pages& pages);

/// Prose and figures have at most 120 columns. Tables, headings and what a test makes may have more, and so may
/// lines that are indented by four, unless `of_examples`.
Complaints against_wide_prose(const Source& page, bool of_examples = true);

/// A section of `page` has at most `most` lines that are not empty.
Complaints against_long_sections(const Source& page, std::size_t most);

/// A chapter's title is followed by the question that it answers, in one paragraph between asterisks, and by a
/// figure: lines four columns in, before its first section.
Complaints against_bare_chapters(const Source& page);

/// Every section of `page` is linked from `contents`, which lies beside it.
Complaints against_unlisted_sections(const Source& page, std::string_view contents);

}  // namespace sdip::layout
