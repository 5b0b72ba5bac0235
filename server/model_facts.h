// What there is to say of a model: sizes, operators, patterns found.
#pragma once

#include "server/catalog.h"

namespace sdip {

/// The answer of GET /models/{name}: each member read at batch 1 and native size; the top level sums the members,
/// its inputs are the first one's, its outputs the last one's.
OrderedJson model_facts(const Catalog& catalog, const std::string& name, const std::vector<Member>& members);

/// The dimensions that such facts were made with.
Dims dims_of_facts(const std::string& facts_json);

}  // namespace sdip
