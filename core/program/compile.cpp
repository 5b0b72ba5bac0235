// compile: the passes in order.
#include <utility>

#include "core/program/passes.h"

namespace sdip {

std::span<const Pass> passes() {
  static constexpr Pass rows[] = {
      {"lower", "what the graph computes becomes instructions; all that follows works on them", lower},
      {"fuse_pointwise", "before lives are known: a result inside an instruction needs no place", fuse_pointwise},
      {"fuse_norm", "behind fuse_pointwise: a norm brings its activation along", fuse_norm},
      {"fuse_strips", "behind all fusion of single operators: their instructions are the parts of strips",
       fuse_strips},
      {"live", "places are for values that the fused program still has", live},
      {"place", "mappings depend on the room that whole operands leave", place},
      {"pin", "weights are packed in the order of their first use, which is fixed now", pin},
      {"classify", "nothing changes an instruction any more", classify},
  };
  return rows;
}

std::string_view place_text(Place place) {
  constexpr std::string_view names[] = {"-", "dsram", "stackram", "dram", "psram", "register"};
  return names[static_cast<std::size_t>(place)];
}

std::string_view role_text(Role role) {
  constexpr std::string_view names[] = {"text_encoder", "encoder", "core", "decoder", "network"};
  return names[static_cast<std::size_t>(role)];
}

std::string_view loop_text(Loop loop) {
  constexpr std::string_view names[] = {"rows", "columns", "channels", "sums"};
  return names[static_cast<std::size_t>(loop)];
}

Application compile(const Workload& workload, const Machine& machine, const CompileOptions& options) {
  Application application;
  application.name = workload.name;
  Machine without_strips = machine;
  without_strips.strips = Strips::off;
  for (const Stage& stage : workload.stages) {
    // Strips are chosen before places are known; a stage in which they then find no room is compiled without.
    bool again = machine.strips != Strips::off;
    for (const Machine* m = &machine; m != nullptr;) {
      Compilation c{*m, stage.role, stage.graph, {}, {}, {}, {}, {}, {}};
      for (const Pass& pass : passes()) {
        pass.run(c);
        if (options.after_pass) options.after_pass(stage.name, pass.name, c);
        if (c.infeasible) break;
      }
      m = c.infeasible && std::exchange(again, false) ? &without_strips : nullptr;
      if (m != nullptr) continue;
      application.stages.push_back({stage.role, stage.name, c.graph, std::move(c.program)});
      if (!c.infeasible) continue;
      application.feasible = false;
      application.reason = stage.name + ": " + *c.infeasible;
      return application;
    }
  }
  return application;
}

}  // namespace sdip
