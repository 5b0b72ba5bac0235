// Advice on what a user still has to give for a model that could not be read, in the words of where it was asked
// for. Internal to its room.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/onnx/survey.h"

namespace sdip {

/// Where a model's sizes and values are given: as options of a command, or in the query of PUT /models/{name}.
enum class Asking { options, query };

/// The inputs and sizes given already.
struct GivenSoFar {
  const std::map<std::string, std::int64_t>& dims;
  const std::map<std::string, std::string>& inputs;
};

/// Dimensions that still need a size, in the order of the inputs.
std::vector<std::string> unbound_dimensions(const ModelSurvey& survey, const GivenSoFar& so_far);

/// The options or query to add where importing refused the model with `error`: of unbound dimensions "--dim B=1
/// --dim H=64", each that needs or takes a size: the first of an input 1, channels 4, others 64, which is an
/// example; of a needed input "--input sr=VALUE". As a query "dim=B=1&dim=H=64". Fit to be pasted: a shell reads it
/// as it stands. "" for other errors.
std::string to_give(const ModelSurvey& survey, const GivenSoFar& so_far, const Error& error, Asking asking);

/// Whether `advised` has more to say of such an error.
bool takes_advice(const Error& error);

/// The error, and what to add; of a shape_mismatch the sizes that the file left open.
Error advised(const Error& error, const ModelSurvey& survey, const GivenSoFar& so_far, Asking asking);

}  // namespace sdip
