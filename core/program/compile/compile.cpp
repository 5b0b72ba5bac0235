// compile: the passes in order.
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/machine/memory_stair.h"
#include "core/program/compile/front_cache.h"
#include "core/program/compile/passes.h"
#include "core/program/compile/stage_cache.h"
#include "core/program/form/form.h"
#include "core/program/tiling/partition.h"

namespace sdip {

std::span<const Pass> passes() {
  static constexpr Pass rows[] = {
      {"split_products", "changes the graph: what it computes is fixed before it is lowered", split_products},
      {"factor_weights", "changes the graph, too; factors are of the weights that products are left with",
       factor_weights},
      {"load_constants", "changes the graph, too; what a copy makes has a format, as all activations",
       load_constants},
      {"say_formats", "changes the graph: formats follow layers, which are fixed before they are lowered",
       say_formats},
      {"recompute", "changes the graph; later changes to it would not be weighed", recompute},
      {"lower", "what the graph computes becomes instructions; all that follows works on them", lower},
      {"fuse_attention", "before a mask's addition joins the scores' product, which then is a product no more",
       fuse_attention},
      {"fuse_pointwise", "before lives are known: a result inside an instruction needs no place", fuse_pointwise},
      {"fuse_chains", "behind fuse_pointwise, before norms join products: a chain has its norm as its first part",
       fuse_chains},
      {"fuse_norm", "behind fuse_pointwise: a norm brings its activation along", fuse_norm},
      {"fuse_strips", "behind all fusion of single operators: their instructions are the parts of strips",
       fuse_strips},
      {"turn", "behind all fusion: it is the whole instruction that writes its results in another order", turn},
      {"spread_branches",
       "when heads and groups are joined to what they belong to; before tiles are chosen for one core's part",
       spread_branches},
      {"schedule", "whole instructions change places, and lives follow from their order", schedule},
      {"pack", "only within the peak of the order that schedule chose; lives follow from it too", pack},
      {"live", "places are for values that the fused program still has", live},
      {"say_mappings",
       "the fused program's names are the layers'; where a result lies is known before places are given",
       say_mappings},
      {"place", "mappings depend on the room that whole operands leave", place},
      {"keep_said", "what place could not keep on chip is in DRAM now", keep_said},
      {"depend", "what is overwritten when is known once everything has its place", depend},
      {"pin", "weights are packed in the order of their first use, which is fixed now", pin},
      {"classify", "nothing changes an instruction any more", classify},
  };
  return rows;
}

std::string_view place_text(Place place) {
  constexpr std::string_view names[] = {"-", "dsram", "stackram", "dram", "psram", "register"};
  return names[at(place)];
}

std::string_view role_text(Role role) {
  constexpr std::string_view names[] = {"text_encoder", "encoder", "core", "decoder", "network"};
  return names[at(role)];
}

bool hard_coded(const Machine& machine, Role role) {
  if (machine.weight_storage != WeightStorage::hard_coded) return false;
  switch (machine.hard_coded_part) {
    case HardCodedPart::text_encoder:
      return role == Role::text_encoder;
    case HardCodedPart::vae:
      return role == Role::encoder || role == Role::decoder;
    case HardCodedPart::core:
      return role == Role::core;
    case HardCodedPart::all:
      break;
  }
  return true;
}

WeightPlace weight_place(const Machine& machine, Role role) {
  if (hard_coded(machine, role)) return WeightPlace::rom;
  return machine.in_memory_weights == InMemoryWeights::fefet ? WeightPlace::fefet : WeightPlace::psram;
}

std::string_view loop_text(Loop loop) {
  constexpr std::string_view names[] = {"rows", "columns", "channels", "sums"};
  return names[at(loop)];
}

std::vector<std::int32_t> use_counts(const Compilation& c) {
  return use_counts(*c.graph, c.drafts, c.roots, c.joined);
}

void narrow_psram(Compilation& c, const CapacityRange& weight_room) {
  if (weights_in_place(c.machine, c.role)) return;  // weights have no room, whatever the capacity
  CapacityRange range = weight_room;
  range.least += c.machine.psram_pinned_bytes;
  if (range.most < CapacityRange().most - c.machine.psram_pinned_bytes) range.most += c.machine.psram_pinned_bytes;
  c.psram_bytes.narrow(range);
}

PassNeeds pass_needs(const Compilation& c) {
  PassNeeds cost;
  for (const InstructionClass& one : c.placement.classes_of_drafts) {
    TileRoom room = room_for(one, c.machine, weight_place(c.machine, c.role));
    room.weights_stay = one.pinned;
    cost.bytes += dram_bytes(one, room);
    cost.cycles += reference_cycles(one, room);
  }
  return cost;
}

namespace {

void require_met(const std::vector<MappingRule>& rules, const std::vector<std::int64_t>& met) {
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (met[i] == 0)
      throw Error("mapping_unmatched", "line " + std::to_string(rules[i].line),
                  "no layer of any stage is a convolution or product named \"" + rules[i].pattern + "\"");
}

void require_met(const std::vector<FormatRule>& rules, const std::vector<std::int64_t>& met) {
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (met[i] == 0)
      throw Error("format_unmatched", "line " + std::to_string(rules[i].line),
                  rules[i].family
                      ? "no layer of any stage is of family " + std::string(family_text(*rules[i].family))
                      : "no layer of any stage is named \"" + rules[i].pattern + "\"");
}

/// How many layers each rule matched, all stages so far.
struct RulesMet {
  std::vector<std::int64_t> mappings, formats;
};

bool carries_strips(const Machine& machine) {
  return machine.strips != Strips::off || machine.fused_chains != FusedChains::off;
}

/// Runs the passes from `first` on to before `behind`, or takes what they made for another machine.
void take_or_run(const FrontCache::Key& key, std::size_t first, std::size_t behind, Compilation& c) {
  if (const auto known = c.fronts->fronts.find(key)) {
    const Front& front = **known;
    c.graph = front.graph;
    c.roots = front.roots;
    c.drafts = front.drafts;
    c.joined = front.joined;
    c.made_again = front.made_again;
    return;
  }
  for (std::size_t pass = first; pass < behind && !c.infeasible; ++pass) {
    end_if(c.stop, c.stage);
    passes()[pass].run(c);
  }
  if (c.infeasible) return;
  Front front{c.graph, c.roots, c.drafts, c.joined, c.made_again};
  c.fronts->fronts.keep(key, std::make_shared<const Front>(std::move(front)));
}

std::size_t number_of(std::string_view pass) {
  return as_size(std::ranges::find(passes(), pass, &Pass::name) - passes().begin());
}

/// The passes before chains are carried in strips, which ask nothing of memories, or what they made for another
/// machine: first those that change the graph alone. Returns the number of the next.
std::size_t take_front(const Stage& stage, Compilation& c) {
  const bool chains = c.machine.fused_chains != FusedChains::off;
  const std::size_t lowered_from = number_of("recompute");
  const std::size_t behind = number_of(chains ? "fuse_chains" : "fuse_strips");
  take_or_run(graph_key(stage, c.machine), 0, lowered_from, c);
  if (!c.infeasible) take_or_run(front_key(c.graph, stage.role, c.machine), lowered_from, behind, c);
  return c.infeasible ? passes().size() : behind;
}

/// How a stage's passes are run. `cache` may be absent.
struct Run {
  const Stage& stage;
  const CompileOptions& options;
  const RulesMet& met;
  StageCache* cache;

  /// `other`: makes the same values again; what is not gone on with, and gets no places, where chains are cut as
  /// they are there.
  Compilation of(const Machine& machine, std::int64_t chip_share = 1, const Compilation* other = nullptr) const {
    Compilation c{machine, stage.role, stage.part, stage.graph, {}, {}, {}, {}, {}, {}};
    c.stage = stage.name;
    c.chip_share = chip_share;
    c.mapping_rules = options.mapping_rules;
    c.rules_met = met.mappings;
    c.format_rules = options.format_rules;
    c.formats_met = met.formats;
    if (options.mappings) c.mappings = options.mappings;
    c.stop = &options.stop;
    c.say_needed_bytes = options.say_needed_bytes && !carries_strips(machine);  // else it is tried without first
    std::size_t next = 0;
    if (cache != nullptr) {
      c.fronts = &cache->fronts();
      c.windows = c.fronts->windows;
    }
    if (other != nullptr && other->made_again) {
      c.graph = other->made_again;
      c.formats_met = other->formats_met;
      next = number_of("recompute") + 1;
    } else if (cache != nullptr) {
      next = take_front(stage, c);
    }
    for (const Pass& pass : passes().subspan(next)) {
      end_if(c.stop, stage.name);
      pass.run(c);
      if (options.after_pass) options.after_pass(stage.name, pass.name, c);
      if (c.infeasible) break;
      if (other != nullptr && pass.run == fuse_strips && c.strips == other->strips) break;
    }
    return c;
  }
};

/// Whether the goal prefers the second of two programs.
bool is_better(TileGoal goal, const PassNeeds& first, const PassNeeds& second) {
  const bool more_bytes = second.bytes > first.bytes + first.bytes / 100;
  const bool fewer_bytes = first.bytes > second.bytes + second.bytes / 100;
  const bool bytes_first = goal == TileGoal::bytes || (goal == TileGoal::balanced && (more_bytes || fewer_bytes));
  if (bytes_first) return std::pair(second.bytes, second.cycles) < std::pair(first.bytes, first.cycles);
  return std::pair(second.cycles, second.bytes) < std::pair(first.cycles, first.bytes);
}

/// One stage on its machine, and for which capacities of PSRAM it would have been the same.
struct MadeStage {
  CompiledStage compiled;
  CapacityRange psram_bytes;
  std::optional<std::string> infeasible;
};

/// Strips are chosen before places are known. Chains of products are cut twice, as if all that a DSRAM can hold lay
/// there and as if little did, and the better program stays; a stage in which strips then find no room is compiled
/// without. `needs`, where it is asked for: of a stage that fits.
MadeStage made_stage(const Stage& stage, const Machine& its, const CompileOptions& options, RulesMet& met,
                     StageCache* cache, PassNeeds* needs = nullptr) {
  constexpr std::int64_t little = 5;
  Machine without_strips = its;
  without_strips.strips = Strips::off;
  without_strips.fused_chains = FusedChains::off;
  const Run run{stage, options, met, cache};
  std::vector<Compilation> tries;
  tries.reserve(3);
  tries.push_back(run.of(its));
  std::size_t best = 0;
  if (its.fused_chains == FusedChains::on) {
    tries.push_back(run.of(its, little, &tries[0]));
    if (tries[1].infeasible || !tries[1].placement.instructions.empty()) {
      const bool worse =
          !tries[0].infeasible &&
          (tries[1].infeasible || !is_better(its.tile_goal, pass_needs(tries[0]), pass_needs(tries[1])));
      best = worse ? 0 : 1;
    }
  }
  if (tries[best].infeasible && carries_strips(its)) {
    tries.push_back(run.of(without_strips));
    best = tries.size() - 1;
  }
  Compilation& c = tries[best];
  MadeStage made{{stage.role, stage.name, c.graph, std::move(c.program), 1, needs_of(its), stage.part},
                 c.psram_bytes,
                 c.infeasible};
  for (const Compilation& one : tries) made.psram_bytes.narrow(one.psram_bytes);
  met = {std::move(c.rules_met), std::move(c.formats_met)};
  if (c.infeasible) return made;
  count_words(made.compiled);
  if (needs != nullptr) *needs = pass_needs(c);
  return made;
}

/// The machine of the stair whose program is best by the goal. A program that fits one capacity fits greater ones,
/// so that on rungs a greater one never has the worse program.
Machine best_on_stair(const Stage& stage, const Machine& its, const CompileOptions& options, const RulesMet& met,
                      StageCache* cache) {
  CompileOptions quiet = options;
  quiet.after_pass = {};
  quiet.say_needed_bytes = false;
  const auto rung_of = [&](const Machine& machine) {
    if (const auto known = cache == nullptr ? std::nullopt : cache->find_rung(stage, machine)) return *known;
    StageCache::Rung rung;
    RulesMet of_rung = met;
    rung.fits = !made_stage(stage, machine, quiet, of_rung, cache, &rung.needs).infeasible;
    if (cache != nullptr) cache->keep_rung(stage, machine, rung);
    return rung;
  };
  const std::vector<Machine> stair = memory_stair(its);
  StageCache::Rung best_rung;
  const Machine* best = &stair.front();
  for (const Machine& machine : stair) {
    const StageCache::Rung rung = rung_of(machine);
    if (rung.fits && (!best_rung.fits || is_better(its.tile_goal, best_rung.needs, rung.needs)))
      best = &machine, best_rung = rung;
  }
  return *best;
}

/// made_stage, or with a memory stair the best that any machine of it has.
MadeStage made_of_all(const Stage& stage, const Machine& its, const CompileOptions& options, RulesMet& met,
                      StageCache* cache) {
  if (!its.memory_stair) return made_stage(stage, its, options, met, cache);
  MadeStage made = made_stage(stage, best_on_stair(stage, its, options, met, cache), options, met, cache);
  made.psram_bytes = {its.psram_bytes, its.psram_bytes};
  return made;
}

/// None where what is said of layers, or shown of passes, needs every stage.
StageCache* cache_of(const CompileOptions& options) {
  const bool plain = options.mapping_rules.empty() && options.format_rules.empty() && !options.after_pass;
  return plain ? options.stages.get() : nullptr;
}

}  // namespace

Compilation asked_alike(const Compilation& from, const Machine& machine, std::shared_ptr<const Graph> graph) {
  Compilation c{machine, from.role, from.part, std::move(graph), {}, {}, {}, {}, {}, {}};
  c.stage = from.stage;
  c.mapping_rules = from.mapping_rules;
  c.rules_met = from.rules_met;
  c.mappings = from.mappings;
  c.windows = from.windows;
  c.stop = from.stop;
  c.chip_share = from.chip_share;
  return c;
}

Application compile(const Workload& workload, const Machine& machine, const CompileOptions& given) {
  CompileOptions options = given;
  if (!options.mappings) options.mappings = std::make_shared<MappingCache>();
  Application application;
  application.name = workload.name;
  application.psram_bytes = {machine.psram_pinned_bytes + 1,
                             CapacityRange().most};  // a machine has more than is pinned
  RulesMet met{std::vector<std::int64_t>(options.mapping_rules.size(), 0),
               std::vector<std::int64_t>(options.format_rules.size(), 0)};
  std::vector<Stage> stages;
  for (const Stage& stage : workload.stages)
    for (Stage& part : partition(stage, machine)) stages.push_back(std::move(part));
  StageCache* cache = cache_of(options);
  for (const Stage& stage : stages) {
    const Machine its = machine_of_stage(machine, stage.role);
    const bool kept = cache != nullptr && stage.part.count == 1;
    std::optional<StageCache::Entry> known = kept ? cache->find(stage, its) : std::nullopt;
    if (known) {
      application.stages.push_back(*known->compiled);
    } else {
      MadeStage made = made_of_all(stage, its, options, met, kept ? cache : nullptr);
      application.stages.push_back(std::move(made.compiled));
      if (made.infeasible) {
        application.feasible = false;
        application.psram_bytes = {machine.psram_bytes, machine.psram_bytes};  // the reason may name it
        application.reason = stage.name + ": " + *made.infeasible;
        return application;
      }
      known = StageCache::Entry{nullptr, made.psram_bytes};
      if (kept) {
        known->compiled = std::make_shared<const CompiledStage>(application.stages.back());
        cache->keep(stage, its, *known);
      }
    }
    if (follows_psram_bytes(machine, stage.role)) application.psram_bytes.narrow(known->psram_bytes);
  }
  require_met(options.mapping_rules, met.mappings);
  require_met(options.format_rules, met.formats);
  share_channel(application.stages);
  return application;
}

}  // namespace sdip
