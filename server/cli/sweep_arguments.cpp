// Axes from text, and the spec they make.
#include "server/cli/sweep_arguments.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/base/words.h"
#include "server/io/said_formats.h"
#include "server/models/request.h"

namespace sdip {
namespace {

/// The space of `sdip sweep MODEL` alone: how many cores, how much memory beside them, how fast a DRAM, how wide a
/// MAC array.
constexpr const char* first_look[] = {"cores=1,2,4,5,10,20",
                                      "psram_bytes=4194304,6291456,12582912,33554432",
                                      "dsram_bytes=1048576:16777216:*2",
                                      "conv_lanes_pixel=4,8,16,32",
                                      "dram_channels=2,4,8,16",
                                      "weight_format=int8,int4"};

Json number_of(std::string_view text, const std::string& where) {
  Json value;
  try {
    value = parse_json(text);
  } catch (const Error&) {
  }
  if (!value.is_number())
    throw Error("value_invalid", where, std::string(text.substr(0, 80)) + ": expected a number");
  return value;
}

}  // namespace

Json axis_json(const std::string& whole, const std::string& option) {
  constexpr std::string_view condition = " when ";
  if (const auto when = whole.find(condition); when != std::string::npos) {
    Json axis = axis_json(whole.substr(0, when), option);
    const std::string where = option + " " + axis["parameter"].get<std::string>();
    axis["when"] = parse_constraint(whole.substr(when + condition.size()), where).text;
    return axis;
  }
  const std::string& text = whole;
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals), where = option + " " + name.substr(0, 80);
  if (equals == std::string::npos)
    throw Error("value_invalid", where, "expected key=value,value,... or key=min:max:*factor or key=min:max:step");
  const ParameterRow& row = require_setting(name, where);
  const auto value = [&](std::string_view one) { return value_json(row, parse_value(row, one, where)); };
  const std::string list = text.substr(equals + 1);
  const auto bounds = split(list, ':');
  Json axis = {{"parameter", name}};
  if (bounds.size() == 3 && !bounds[2].empty()) {
    const bool factor = bounds[2][0] == '*';
    const std::string_view amount = factor || bounds[2][0] == '+' ? bounds[2].substr(1) : bounds[2];
    axis["min"] = value(bounds[0]);
    axis["max"] = value(bounds[1]);
    axis[factor ? "factor" : "step"] = number_of(amount, where);
    return axis;
  }
  if (bounds.size() != 1) throw Error("value_invalid", where, "a range is min:max:*factor or min:max:step");
  axis["values"] = Json::array();
  for (const auto& one : split(list, ',')) axis["values"].push_back(value(one));
  return axis;
}

Json link_json(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw Error("value_invalid", "--link", text.substr(0, 80) + ": expected parameter=formula");
  const auto begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ', equals - 1);
  const std::string name = equals == 0 || begin >= equals ? "" : text.substr(begin, end - begin + 1),
                    where = "--link " + name.substr(0, 80);
  return {{"parameter", name}, {"formula", parse_formula("link", "", text.substr(equals + 1), where).text}};
}

std::optional<AskedRevision> asked_revision(const SweepArguments& a) {
  const std::optional<std::int64_t> parents[] = {a.clone, a.extend, a.narrow, a.retry};  // as RevisionKind has them
  std::optional<AskedRevision> asked;
  for (std::size_t kind = 0; kind < std::size(parents); ++kind) {
    if (!parents[kind]) continue;
    const std::string option = "--" + std::string(revision_names()[kind]);
    if (asked) throw Error("value_conflict", option, "one revision at a time");
    if (a.data.empty()) throw Error("value_invalid", option, "needs --data, the folder of the sweep");
    if (!a.model.empty() || !a.spec_file.empty() || a.resume || !a.part.empty() || !a.sampling.empty() || a.seed ||
        !a.formats_file.empty() || !a.metrics.empty() || !a.links.empty() || !a.objectives.empty() ||
        !a.machine.changes.empty())
      throw Error("value_conflict", option,
                  "the sweep has its model, machine and settings: expected --name, of --extend --axis and --count, "
                  "of --narrow --axis and --constraint");
    Json body = {{"kind", revision_names()[kind]}};
    if (!a.name.empty()) body["name"] = a.name;
    if (a.count) body["count"] = *a.count;
    for (const std::string& axis : a.axes) body["axes"].push_back(axis_json(axis));
    for (const std::string& text : a.constraints)
      body["constraints"].push_back(parse_constraint(text, "--constraint").text);
    asked = AskedRevision{*parents[kind], revision_from_json(body)};
  }
  return asked;
}

Json sweep_body(const SweepArguments& arguments) {
  if (!arguments.spec_file.empty()) {
    if (!arguments.axes.empty() || !arguments.sampling.empty() || arguments.count || arguments.seed ||
        !arguments.formats_file.empty() || !arguments.metrics.empty() || !arguments.constraints.empty() ||
        !arguments.links.empty())
      throw Error("value_invalid", "--spec",
                  "the file says the whole sweep; expected no --axis, --link, --sampling, --count, --seed, "
                  "--formats, --metric or --constraint");
    Json body = parse_json(read_text(arguments.spec_file));
    if (body.is_object() && !arguments.model.empty()) body["model"] = arguments.model;
    if (body.is_object() && !arguments.name.empty()) body["name"] = arguments.name;
    return body;
  }
  Json body = {{"model", arguments.model}, {"preset", arguments.machine.preset}};
  body["machine"] = Json::parse(json_text(machine_json(machine_of(arguments.machine))));
  if (!arguments.name.empty()) body["name"] = arguments.name;
  if (!arguments.sampling.empty()) body["sampling"] = arguments.sampling;
  if (arguments.count) body["count"] = *arguments.count;
  if (arguments.seed) body["seed"] = *arguments.seed;
  // Read here, so that an error names the option and not the key that it becomes.
  if (!arguments.metrics.empty())
    body["metrics"] = Json::parse(formulas_json(formulas_of(arguments.metrics)).dump());
  for (const std::string& text : arguments.constraints)
    body["constraints"].push_back(parse_constraint(text, "--constraint").text);
  if (!arguments.objectives.empty()) body["objectives"] = arguments.objectives;
  if (!arguments.formats_file.empty()) body["formats"] = formats_of_file(arguments.formats_file).text;
  body["axes"] = Json::array();
  for (const auto& axis : arguments.axes) body["axes"].push_back(axis_json(axis));
  for (const std::string& link : arguments.links) body["links"].push_back(link_json(link));
  if (arguments.axes.empty())
    for (const auto* axis : first_look) body["axes"].push_back(axis_json(axis));
  return body;
}

Error told_by_option(const Error& error, const std::string& list, const std::string& option,
                     const std::vector<std::string>& texts) {
  if (texts.empty() || !error.where.starts_with(list)) return error;
  const std::string_view rest = std::string_view(error.where).substr(list.size());
  if (rest.empty()) return {error.code, option, error.what()};
  std::size_t place = texts.size();
  if (rest[0] != '/') return error;
  std::from_chars(rest.data() + 1, rest.data() + rest.size(), place);
  if (place >= texts.size()) return error;
  return {error.code, option + " " + texts[place].substr(0, std::min<std::size_t>(texts[place].find('='), 80)),
          error.what()};
}

SweepSpec said_spec(const SweepArguments& arguments, const Json& body) {
  try {
    return spec_from_json(body);
  } catch (const Error& error) {
    throw told_by_option(told_by_option(error, "/axes", "--axis", arguments.axes), "/links", "--link",
                         arguments.links);
  }
}

}  // namespace sdip
