// Files that define operators, and the list of all that there are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "server/models/catalog.h"

namespace sdip {

/// The operators that these files define; nullptr for no files. Throws Error operator_invalid and what reading a
/// file and JSON throws, naming file, field and position.
OwnOperatorList operators_of(const std::vector<std::string>& files);

/// Those of the files operators/*.json in a data folder, by name, and of `more`.
OwnOperatorList operators_in(const std::filesystem::path& data_folder, const std::vector<std::string>& more = {});

/// The answer of GET /operators: domain, type, opsets in which its meaning changed, family where it is always the
/// same ("" else), and where it comes from.
OrderedJson operators_json(const OwnOperatorList& own);

}  // namespace sdip
