// A sweep made of another one: the same again, with more, with less, or with its failures tried again.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "core/explore/space/spec.h"

namespace sdip {

/// clone: the same sweep. extend: more values of axes, axes more, or more points of a drawn sample. narrow: some
/// values of axes alone, or constraints more. retry: the same sweep, of whose points only feasible ones are taken
/// over.
enum class RevisionKind { clone, extend, narrow, retry };
std::span<const std::string_view> revision_names();  // in the order of the values
std::string_view revision_name(RevisionKind kind);

struct Revision {
  RevisionKind kind = RevisionKind::clone;
  std::string name{};                  // of the new sweep; empty: the parent's
  std::vector<Axis> axes{};            // extend: values to add; narrow: values to keep
  std::int64_t count = 0;              // extend: points to draw besides; 0: none
  std::vector<Formula> constraints{};  // narrow: besides the parent's
};

/// Reads {"kind", "name", "axes", "count", "constraints"} (docs/api.md), of which a kind takes its own. Throws
/// Error("value_invalid" | "value_out_of_range" | "unknown_key" | ..., JSON pointer, ...).
Revision revision_from_json(const nlohmann::json& body);
/// The change of a revision as the body says it, with axes as lists of values.
nlohmann::ordered_json revision_json(const Revision& revision);

/// The sweep that a revision makes of another. An axis that `parent` has not begins with the base's value, and
/// comes last. Throws Error(code, JSON pointer of the revision, ...) where nothing changes, a value that is to be
/// kept is none of the axis, a grid gets a count, and what check_space refuses.
SweepSpec revised(const SweepSpec& parent, const Revision& revision);

}  // namespace sdip
