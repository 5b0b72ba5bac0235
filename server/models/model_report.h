// The report on a network, and what a model's file says of itself, as JSON. Internal to its room.
#pragma once

#include "core/base/error.h"
#include "core/graph/report.h"
#include "core/onnx/survey.h"
#include "server/io/json_in.h"
#include "server/models/advice.h"

namespace sdip {

/// Layers of equal work that the JSON holds; the rest is counted.
inline constexpr std::size_t most_listed_layers = 200;

/// The `report` of docs/api.md (Models). The tree is cut to `limits`.
OrderedJson report_json(GraphReport report, const TreeLimits& limits);

/// The file's own facts: IR version, opsets, operators, inputs with their symbolic dimensions.
OrderedJson survey_json(const ModelSurvey& survey);

/// Everything in the way of importing, not the first of it alone: `unbound` dimensions, `unsupported` operators and
/// versions, and `problems`, which has these and the error met first as {"code", "where", "detail"}.
OrderedJson obstacles_json(const ModelSurvey& survey, const GivenSoFar& so_far, const Error& first);

}  // namespace sdip
