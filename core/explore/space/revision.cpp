// The four ways to make a sweep of another one.
#include "core/explore/space/revision.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/explore/space/sampling.h"

namespace sdip {
namespace {

constexpr std::string_view kind_names[] = {"clone", "extend", "narrow", "retry"};

/// Which keys a kind takes besides "kind" and "name".
std::vector<std::string_view> keys_of(RevisionKind kind) {
  if (kind == RevisionKind::extend) return {"axes", "count"};
  if (kind == RevisionKind::narrow) return {"axes", "constraints"};
  return {};
}

RevisionKind kind_from_json(const nlohmann::json& body) {
  if (!body.is_object()) throw Error("value_invalid", "", "a revision: expected a JSON object");
  const std::string name = body.contains("kind") && body["kind"].is_string() ? body["kind"].get<std::string>() : "";
  const auto* const found = std::ranges::find(kind_names, name);
  if (found == std::end(kind_names))
    throw Error("value_invalid", "/kind", "expected one of clone, extend, narrow, retry");
  return static_cast<RevisionKind>(found - std::begin(kind_names));
}

std::string axis_place(std::size_t axis) { return "/axes/" + std::to_string(axis); }

/// Adds a list's values to an axis, or a new axis of them.
void extend_axis(Space& space, const Axis& more, const std::string& where) {
  auto axis = std::ranges::find(space.axes, more.row, &Axis::row);
  if (axis != space.axes.end() && more.when && more.when != axis->when)
    throw Error("value_conflict", where + "/when", "the axis is there, and has its condition");
  if (axis == space.axes.end())
    axis = space.axes.insert(axis, Axis{more.row, {more.row->read(space.base)}, more.when});
  const std::size_t before = axis->values.size();
  for (const std::int64_t value : more.values)
    if (std::ranges::find(axis->values, value) == axis->values.end()) axis->values.push_back(value);
  if (axis->values.size() == before)
    throw Error("value_invalid", where + "/values",
                std::string(more.row->name) + " takes each of these values already: expected others");
}

void narrow_axis(Space& space, const Axis& kept, const std::string& where) {
  const std::string name(kept.row->name);
  if (kept.when)
    throw Error("value_invalid", where + "/when", "a condition is kept as it is: expected values alone");
  const auto axis = std::ranges::find(space.axes, kept.row, &Axis::row);
  if (axis == space.axes.end())
    throw Error("value_invalid", where + "/parameter", name + " is no axis of the sweep");
  for (const std::int64_t value : kept.values)
    if (std::ranges::find(axis->values, value) == axis->values.end())
      throw Error("value_invalid", where + "/values",
                  name + " = " + value_text(*kept.row, value) + " is none of the axis's values");
  const auto dropped = [&](std::int64_t value) {
    return std::ranges::find(kept.values, value) == kept.values.end();
  };
  if (std::erase_if(axis->values, dropped) == 0)
    throw Error("value_invalid", where + "/values", name + " keeps all its values: nothing is narrowed");
}

/// Draws more points of a sample, which keeps those that it has.
void extend_sample(Space& space, std::int64_t count) {
  if (!row_of(space.sampling).draws)
    throw Error("value_invalid", "/count", "a grid has as many points as its axes say: extend an axis");
  if (space.draws.empty()) space.draws.push_back(space.count);
  space.draws.push_back(count);
  space.count += count;
}

}  // namespace

std::span<const std::string_view> revision_names() { return kind_names; }

std::string_view revision_name(RevisionKind kind) { return kind_names[at(kind)]; }

Revision revision_from_json(const nlohmann::json& body) {
  Revision revision;
  revision.kind = kind_from_json(body);
  const std::vector<std::string_view> keys = keys_of(revision.kind);
  for (const auto& item : body.items())
    if (item.key() != "kind" && item.key() != "name" && std::ranges::find(keys, item.key()) == keys.end())
      throw Error("unknown_key", "/" + item.key().substr(0, 80),
                  "no such key in a revision of this kind; docs/api.md lists them");
  if (body.contains("name")) revision.name = sweep_name_from_json(body["name"]);
  if (body.contains("axes")) revision.axes = axes_from_json(body["axes"]);
  if (body.contains("constraints"))
    revision.constraints = constraints_from_json(body["constraints"], "/constraints");
  if (!body.contains("count")) return revision;
  const nlohmann::json& count = body["count"];
  if (!count.is_number_integer()) throw Error("value_invalid", "/count", "expected a whole number of points");
  if (count < 1 || count > most_points)
    throw Error("value_out_of_range", "/count",
                "points to draw besides: expected 1 to " + std::to_string(most_points));
  revision.count = count.get<std::int64_t>();
  return revision;
}

nlohmann::ordered_json revision_json(const Revision& revision) {
  nlohmann::ordered_json json = {{"kind", revision_name(revision.kind)}};
  if (!revision.axes.empty()) json["axes"] = axes_json(revision.axes);
  if (revision.count > 0) json["count"] = revision.count;
  for (const Formula& constraint : revision.constraints) json["constraints"].push_back(constraint.text);
  return json;
}

SweepSpec revised(const SweepSpec& parent, const Revision& revision) {
  SweepSpec spec = parent;
  if (!revision.name.empty()) spec.name = revision.name;
  const bool changes = revision.kind == RevisionKind::extend || revision.kind == RevisionKind::narrow;
  if (!changes) return spec;
  if (revision.axes.empty() && revision.count == 0 && revision.constraints.empty())
    throw Error("value_invalid", "",
                revision.kind == RevisionKind::extend ? "nothing to extend: expected axes or count"
                                                      : "nothing to narrow: expected axes or constraints");
  const auto change = revision.kind == RevisionKind::extend ? extend_axis : narrow_axis;
  for (std::size_t a = 0; a < revision.axes.size(); ++a) change(spec.space, revision.axes[a], axis_place(a));
  if (revision.count > 0) extend_sample(spec.space, revision.count);
  for (const Formula& constraint : revision.constraints) spec.constraints.push_back(constraint);
  if (spec.constraints.size() > most_formulas)
    throw Error("limit_exceeded", "/constraints",
                fmt::format("with the sweep's own more than {} constraints", most_formulas));
  spec.space = with_blocks(std::move(spec.space));
  check_space(spec.space);
  return spec;
}

}  // namespace sdip
