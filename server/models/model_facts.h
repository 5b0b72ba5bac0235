// Facts of a model: sizes, operators, patterns found.
#pragma once

#include "core/base/error.h"
#include "core/graph/tree.h"
#include "server/models/catalog.h"

namespace sdip {

/// Bounds of the tree in the answers of the API.
inline constexpr TreeLimits api_tree = {.depth = most_tree_depth, .children = 256, .total = 1500};

/// The answer of GET /models/{name}: each member read at batch 1 and native size, with the report on it; the top
/// level sums the members, its inputs are the first one's, its outputs the last one's. Throws what reading and
/// importing throw, and not_a_noise_predictor for a core that is none.
OrderedJson model_facts(const Catalog& catalog, const std::string& name, const std::vector<Member>& members,
                        const TreeLimits& limits = api_tree);

/// The facts of a file that importing refused with `error`: {"name", "survey", "problems", "unbound",
/// "unsupported", "detail", "give": what to add, as options or query}; without a survey for what is no model.
/// `asking`: how it is to be given, if not as the catalog says.
OrderedJson refused_model(const Catalog& catalog, const Member& member, const Error& error,
                          std::optional<Asking> asking = std::nullopt);

/// Such facts without their stages, which are most of the text.
Json facts_head(const std::string& facts_json);

/// The member that such facts were made of, without its file: role, dimensions and given inputs.
Member member_of_facts(const std::string& facts_json);
/// Dimensions that were taken for 1.
std::vector<std::string> assumed_in_facts(const std::string& facts_json);

/// The assumptions on a member's inputs, a sentence each.
std::vector<std::string> notes_of(const Member& member, const std::vector<std::string>& assumed);

}  // namespace sdip
