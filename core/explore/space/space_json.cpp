// Spaces as JSON: the sampling part of POST /sweeps.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/error.h"
#include "core/explore/space/sampling.h"
#include "core/machine/former.h"

namespace sdip {
namespace {

using nlohmann::json;

constexpr std::size_t most_values = 100'000;  // of one axis

void refuse_unknown_keys(const json& object, std::initializer_list<std::string_view> known,
                         const std::string& where) {
  for (const auto& item : object.items()) {
    if (std::ranges::find(known, item.key()) != known.end()) continue;
    std::string list;
    for (const auto key : known) list += " " + std::string(key);
    throw Error("unknown_key", where + "/" + item.key().substr(0, 80), "expected one of:" + list);
  }
}

std::string list_of_samplings() {
  std::string list;
  for (const std::string_view name : sampling_names()) list += " " + std::string(name);
  return list;
}

bool numeric(const ParameterRow& row) {
  return row.type == ParameterType::count || row.type == ParameterType::decimal;
}

std::int64_t integer(const json& value, std::int64_t least, std::int64_t most, const std::string& where) {
  const std::string expected = fmt::format("expected a whole number from {} to {}", least, most);
  if (!value.is_number_integer()) throw Error("value_invalid", where, expected);
  const bool too_large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  if (too_large || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    throw Error("value_out_of_range", where, expected);
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> listed_values(const ParameterRow& row, const json& values, const std::string& where) {
  if (!values.is_array()) throw Error("value_invalid", where, "expected a list of values");
  if (values.size() > most_values)
    throw Error("too_large", where, fmt::format("more than {} values on one axis", most_values));
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; i < values.size(); ++i)
    list.push_back(value_from_json(row, values[i], fmt::format("{}/{}", where, i)));
  std::vector<std::int64_t> sorted = list;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw Error("value_invalid", where, fmt::format("{} = {} is listed twice", row.name, value_text(row, *twice)));
  return list;
}

/// {"min": 1, "max": 10, "step": 4} is 1, 5, 9; {"min": 1, "max": 10, "factor": 2} is 1, 2, 4, 8: `max` is reached
/// only when a step falls on it. A product that is not in the parameter's resolution is rounded down.
std::vector<std::int64_t> range_values(const ParameterRow& row, const json& axis, const std::string& where) {
  if (!numeric(row))
    throw Error("value_invalid", where,
                std::string(row.name) + " is no whole or fixed-point number: give its values as a list");
  const bool by_step = axis.contains("step");
  const char* const pace = by_step ? "step" : "factor";
  for (const char* key : {"min", "max", pace})
    if (!axis.contains(key))
      throw Error("value_invalid", where, "expected values, or min and max with either step or factor");
  if (by_step && axis.contains("factor")) throw Error("value_invalid", where, "step and factor exclude each other");

  const std::int64_t least = value_from_json(row, axis["min"], where + "/min");
  const std::int64_t most = value_from_json(row, axis["max"], where + "/max");
  if (most < least) throw Error("value_invalid", where + "/max", "max is below min");

  ParameterRow pace_row = row;  // a step is read in the parameter's own coding, a factor in hundredths
  pace_row.name = pace;
  if (by_step) {
    pace_row.least = 1;
  } else {
    pace_row.type = ParameterType::decimal;
    pace_row.least = 101;
    pace_row.most = 100'000'000;
  }
  const std::int64_t by = value_from_json(pace_row, axis[pace], where + "/" + pace);

  std::vector<std::int64_t> list;
  for (std::int64_t value = least; value <= most;) {
    if (list.size() == most_values)
      throw Error("too_large", where, fmt::format("more than {} values on one axis", most_values));
    list.push_back(value);
    if (by_step) {
      value += by;  // both below 2^41
      continue;
    }
    const std::int64_t next = value / 100 * by + value % 100 * by / 100;  // below 2^40 * 10^6 = 2^60
    if (next <= value)
      throw Error("value_invalid", where + "/factor",
                  value_text(row, value) + " times " + value_text(pace_row, by) +
                      " is no larger in this parameter's resolution: start higher or use a larger factor");
    value = next;
  }
  return list;
}

const ParameterRow* varied_row(const json& object, const std::string& where) {
  if (!object.contains("parameter") || !object["parameter"].is_string())
    throw Error("value_invalid", where + "/parameter", "expected the name of a parameter");
  const auto name = object["parameter"].get<std::string>();
  const ParameterRow* row = find_setting(name);
  if (row == nullptr)
    throw Error("unknown_parameter", where + "/parameter",
                name.substr(0, 80) + ": no such parameter; `sdip parameters` lists them all");
  if (const FormerRow* former = find_former(name); former != nullptr && !former->axis)
    throw Error("unknown_parameter", where + "/parameter", name + " is no axis: vary " + std::string(former->now));
  return row;
}

/// One draw alone is no more than the count.
std::vector<std::int64_t> draws_from_json(const json& list) {
  if (!list.is_array()) throw Error("value_invalid", "/draws", "expected a list of numbers of points");
  std::vector<std::int64_t> draws;
  for (std::size_t i = 0; i < list.size(); ++i)
    draws.push_back(integer(list[i], 1, most_points, "/draws/" + std::to_string(i)));
  return draws;
}

Axis axis_from_json(const json& axis, const std::string& where) {
  if (!axis.is_object()) throw Error("value_invalid", where, "an axis: expected an object");
  refuse_unknown_keys(axis, {"parameter", "values", "min", "max", "step", "factor", "when"}, where);
  const ParameterRow* row = varied_row(axis, where);
  std::optional<Formula> when;
  if (axis.contains("when")) {
    if (!axis["when"].is_string())
      throw Error("value_invalid", where + "/when", "expected a condition on parameters");
    when = parse_constraint(axis["when"].get<std::string>(), where + "/when");
    if (when->inputs.empty())
      throw Error("value_invalid", where + "/when", "expected a condition that reads a parameter");
  }
  if (!axis.contains("values")) return {row, range_values(*row, axis, where), std::move(when)};
  if (axis.size() != (when ? 3u : 2u))
    throw Error("value_invalid", where, "values exclude min, max, step and factor");
  return {row, listed_values(*row, axis["values"], where + "/values"), std::move(when)};
}

}  // namespace

std::vector<Axis> axes_from_json(const json& list) {
  if (!list.is_array()) throw Error("value_invalid", "/axes", "expected a list of axes");
  if (list.size() > parameters().size()) throw Error("too_large", "/axes", "more axes than there are parameters");
  std::vector<Axis> axes;
  for (std::size_t a = 0; a < list.size(); ++a)
    axes.push_back(axis_from_json(list[a], "/axes/" + std::to_string(a)));
  return axes;
}

std::vector<Link> links_from_json(const json& list) {
  if (!list.is_array()) throw Error("value_invalid", "/links", "expected a list of links");
  if (list.size() > most_formulas)
    throw Error("limit_exceeded", "/links", fmt::format("expected at most {} links", most_formulas));
  std::vector<Link> links;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = "/links/" + std::to_string(i);
    if (!list[i].is_object()) throw Error("value_invalid", where, "a link: expected an object");
    refuse_unknown_keys(list[i], {"parameter", "formula"}, where);
    const ParameterRow* row = varied_row(list[i], where);
    if (const FormerRow* former = find_former(list[i]["parameter"].get<std::string>()))
      throw Error("unknown_parameter", where + "/parameter",
                  fmt::format("{} stands for others: link {}", row->name, former->now));
    if (!list[i].contains("formula") || !list[i]["formula"].is_string())
      throw Error("value_invalid", where + "/formula", "expected a formula of parameters");
    links.push_back({row, parse_formula("link", "", list[i]["formula"].get<std::string>(), where + "/formula")});
  }
  return links;
}

Space space_from_json(const json& spec, const Machine& base) {
  if (!spec.is_object()) throw Error("value_invalid", "", "a sweep: expected a JSON object");
  Space space;
  space.base = base;
  if (spec.contains("sampling")) {
    const auto named =
        spec["sampling"].is_string() ? sampling_named(spec["sampling"].get<std::string>()) : std::nullopt;
    if (!named) throw Error("value_invalid", "/sampling", "expected one of:" + list_of_samplings());
    space.sampling = *named;
  }
  if (spec.contains("seed")) space.seed = static_cast<std::uint64_t>(integer(spec["seed"], 0, most_seed, "/seed"));
  const SamplingRow& row = row_of(space.sampling);
  if (row.draws) {
    if (!spec.contains("count"))
      throw Error("value_invalid", "/count", std::string(row.name) + " sampling needs the points to draw");
    space.count = integer(spec["count"], 1, most_points, "/count");
    if (spec.contains("draws")) space.draws = draws_from_json(spec["draws"]);
  } else if (spec.contains("count") || spec.contains("draws")) {
    throw Error("value_invalid", spec.contains("count") ? "/count" : "/draws",
                "a grid has as many points as its axes say; count is for samples of a space");
  }
  if (!spec.contains("axes")) throw Error("value_invalid", "/axes", "expected a list of axes");
  space.axes = axes_from_json(spec["axes"]);
  if (spec.contains("links")) space.links = links_from_json(spec["links"]);
  space = with_blocks(std::move(space));
  check_space(space);
  return space;
}

nlohmann::ordered_json axes_json(std::span<const Axis> axes) {
  auto list = nlohmann::ordered_json::array();
  for (const Axis& axis : axes) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const std::int64_t value : axis.values) values.emplace_back(value_json(*axis.row, value));
    list.push_back({{"parameter", axis.row->name}, {"values", std::move(values)}});
    if (axis.when) list.back()["when"] = axis.when->text;
  }
  return list;
}

nlohmann::ordered_json links_json(std::span<const Link> links) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Link& link : links) list.push_back({{"parameter", link.row->name}, {"formula", link.formula.text}});
  return list;
}

nlohmann::ordered_json space_json(const Space& space) {
  nlohmann::ordered_json object;
  object["sampling"] = sampling_name(space.sampling);
  object["seed"] = space.seed;
  if (row_of(space.sampling).draws) object["count"] = space.count;
  if (!space.draws.empty()) object["draws"] = space.draws;
  object["axes"] = axes_json(space.axes);
  if (!space.links.empty()) object["links"] = links_json(space.links);
  return object;
}

}  // namespace sdip
