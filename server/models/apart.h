// Evaluations of a model that is not trusted: each in a child process (server/io/sandbox.h), by name.
#pragma once

#include "core/base/stop.h"
#include "server/io/sandbox.h"
#include "server/models/catalog.h"

namespace sdip {

/// The state of a running evaluation: what it shows, and whether it is to end.
struct EvaluationTurn {
  std::function<void(std::string_view)> show = {};
  Stop stop = {};
};

/// Makes of a request an answer, both text. Throws Error.
using Evaluate = std::string (*)(const Catalog&, const Json& request, const EvaluationTurn&);

/// An evaluation that can be asked for by name, and what it may take in a child.
struct Evaluation {
  std::string_view name;
  Evaluate run;
  ChildLimits limits = {};
};

/// The facts of an uploaded file (model_facts), or of one that is refused.
extern const Evaluation facts_evaluation;

/// The model as a child is told it.
struct ApartModel {
  std::filesystem::path program;
  Member member;  // its file is the child's
  OwnOperatorList operators;
};

/// The evaluation in a child. Throws what it throws there, and what answer_of_child does.
std::string evaluate_apart(const ApartModel& model, const Evaluation& evaluation, const Json& request,
                           const EvaluationTurn& turn = {});

/// The child: reads the request, confines itself, evaluates, answers. Returns the exit code.
int run_evaluation(std::span<const Evaluation> known);

}  // namespace sdip
