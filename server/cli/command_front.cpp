// sdip front.
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/cli/text/front_text.h"
#include "server/io/text.h"
#include "server/jobs/joint_front.h"
#include "server/jobs/service.h"

namespace sdip {
namespace {

struct FrontArguments {
  std::vector<std::int64_t> sweeps;
  std::string data, objectives;
  std::vector<std::string> metrics, constraints;
  bool json = false;
};

int run_front(const FrontArguments& arguments) {
  const Store store(kept_store_file(arguments.data).string(), StoreAccess::read);
  JointFrontRequest request{.sweeps = arguments.sweeps, .objectives = arguments.objectives};
  request.formulas = formulas_of(arguments.metrics);
  for (const std::string& text : arguments.constraints)
    request.constraints.push_back(parse_constraint(text, "--constraint"));
  const SweepsFront front = joint_front(store, request, {"SWEEP", "--objectives", "--metric", "--constraint"});
  if (arguments.json)
    print_json(joint_front_json(front));
  else
    print_joint_front(std::cout, front, models_note(front), colour_out());
  return front.rows.empty() ? exit_infeasible : exit_ok;
}

}  // namespace

void add_front_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<FrontArguments>(
      app, action, "front", "The Pareto front of a stored sweep, or of several together", run_front);
  command.add_option("SWEEP", a.sweeps, "Numbers of sweeps")->required();
  command.add_option("--data", a.data, "Folder the sweeps are kept in")->required();
  add_formula_option(command, a.metrics);
  command.add_option("--objectives", a.objectives,
                     "Metrics of the front, comma separated; max:NAME or min:NAME says what is better; the sweeps' "
                     "own when not given");
  add_several(command, "--constraint", a.constraints,
              "What a point of the front must keep beside its sweep's own; repeated");
  command.add_flag("--json", a.json, "JSON instead of a table");
}

}  // namespace sdip
