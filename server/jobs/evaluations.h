// Evaluations of models by the server: of a built-in one here, of an uploaded one in a confined child.
#pragma once

#include <span>

#include "server/models/apart.h"

namespace sdip {

/// Every evaluation; a child knows them by name.
std::span<const Evaluation> evaluations();

/// One of them.
const Evaluation& evaluation_named(std::string_view name);

/// Evaluates a request about `model`. Throws Error: what the evaluation does, and of an upload evaluation_failed
/// (its death, or a limit), import_failed, busy and cancelled. `job`: it runs in a queue of its own.
std::string evaluate(const Catalog& catalog, std::string_view name, const std::string& model, const Json& request,
                     const EvaluationTurn& turn = {}, bool job = false);

/// The model that a body names; "" where it names none.
std::string model_of(const Json& body);

}  // namespace sdip
