// Questions of passes to drafts, and the changes that they make.
#include "core/program/tiling/draft.h"
#include "core/machine/dram.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace sdip {

bool may_replace(const Draft& draft, const DraftOperand& o) {
  return draft.compound == Compound::single && draft.turned_run == 0 && o.aligned && o.fetch.per_fold &&
         o.fetch.passes == 1 && std::ranges::count(draft.operands, o.value, &DraftOperand::value) == 1;
}

bool share_formats(const Draft& a, const Draft& b, const Machine& machine) {
  if (!a.formats && !b.formats) return true;
  const Formats x = a.formats.value_or(formats_of(machine)), y = b.formats.value_or(formats_of(machine));
  return x.activations == x.results && y.activations == y.results && x.activations == y.activations &&
         (a.weights.empty() || b.weights.empty() || x.weights == y.weights) &&
         (!is_nest(a.work.family) || !is_nest(b.work.family) ||
          (x.accumulators == y.accumulators && x.density_hundredths == y.density_hundredths));
}

void take_formats(Draft& draft, const Draft& joined) {
  if (!joined.formats) return;
  const std::optional<Formats> own = draft.formats;
  if (!own || (draft.weights.empty() && !joined.weights.empty())) draft.formats = joined.formats;
  if (own && own->accumulators) draft.formats->accumulators = own->accumulators;
  if (own && own->density_hundredths) draft.formats->density_hundredths = own->density_hundredths;
  if (!draft.formats->density_hundredths) draft.formats->density_hundredths = joined.formats->density_hundredths;
}

void join_behind(Draft& before, const Draft& next) {
  take_formats(before, next);
  const auto reads_before = [&](const DraftOperand& operand) { return operand.value == before.destination; };
  const auto read = std::ranges::find_if(next.operands, reads_before);
  if (read != next.operands.end() && !read->aligned)  // results go where the turned ones are
    for (DraftOperand& operand : before.operands) operand.aligned = false;
  std::ranges::copy_if(next.operands, std::back_inserter(before.operands), std::not_fn(reads_before));
  before.weight_fetches.insert(before.weight_fetches.end(), next.weight_fetches.begin(), next.weight_fetches.end());
  before.weights.insert(before.weights.end(), next.weights.begin(), next.weights.end());
  before.held_weight_elements += next.held_weight_elements;
  before.nodes.insert(before.nodes.end(), next.nodes.begin(), next.nodes.end());
  before.fused.push_back(next.mnemonic);
  before.destination = next.destination;
}

std::string full_mnemonic(const Draft& draft) {
  std::string text;
  for (const auto& name : draft.prologue) text += name + "+";
  text += draft.mnemonic;
  for (const auto& name : draft.fused) text += "+" + name;
  if (draft.turned_run > 0) text += "+transpose";
  return text;
}

std::int64_t most_uses(const std::vector<std::string>& names) {
  std::int64_t most = 0;
  for (const auto& name : names) most = std::max<std::int64_t>(most, std::ranges::count(names, name));
  return most;
}

InstructionClass class_of(const Draft& draft, const std::function<Place(std::size_t)>& place) {
  InstructionClass c;
  c.work = draft.work;
  c.work.read_elements.clear();
  c.out_elements = draft.out_elements;
  c.fused_operators = std::ssize(draft.fused);
  c.fused_passes = most_uses(draft.fused);
  c.weight_elements = draft.held_weight_elements;
  c.fetches = draft.weight_fetches;
  c.prologue_passes = draft.prologue_passes;
  c.statistics_passes = draft.statistics_passes;
  c.prologue_sums = draft.prologue_sums;
  c.compound = draft.compound;
  c.parts = draft.parts;
  c.line_buffers = draft.line_buffers;
  c.spread_cores = draft.spread_cores;
  c.shares_channels = draft.shares_channels;
  c.turned_run = draft.turned_run;
  c.formats = draft.formats;
  std::size_t next = 0;
  if (draft.compound == Compound::strips) {
    c.operand_a = place(next++);
    c.operand_b = Place::psram;
    for (Part& part : c.parts) {
      if (is_nest(part.work.family) && part.operand_b == Place::nowhere) part.operand_b = place(next++);
      for (Fetch& fetch : part.fetches)
        if (fetch.place == Place::nowhere) fetch.place = place(next++);
    }
  } else if (is_nest(draft.work.family)) {
    const std::int64_t channels = std::max<std::int64_t>(1, draft.work.nest.groups * draft.work.nest.out_channels);
    c.operand_a = place(next++);
    c.operand_b = draft.weighted ? Place::psram : place(next++);
    c.weight_elements_per_channel = ceil_div(draft.weight_elements, channels);
    c.bias_elements_per_channel = ceil_div(draft.bias_elements, channels);
  }
  if (draft.compound == Compound::attention) c.parts.at(2).operand_b = place(next++);
  for (; next < draft.operands.size(); ++next) {
    Fetch fetch = draft.operands[next].fetch;
    fetch.place = place(next);
    if (fetch.place != Place::scalar) c.fetches.push_back(fetch);
  }
  return c;
}

std::vector<std::int32_t> use_counts(const Graph& graph, const List<Draft>& drafts, const List<ValueId>& roots,
                                     const Joined& joined) {
  List<std::int32_t> uses(graph.values.size(), 0);
  for (const Draft& draft : drafts)
    for (const DraftOperand& operand : draft.operands) ++uses[operand.value];
  for (const ValueId out : graph.outputs) ++uses[roots[out]];
  for (ValueId v = 0; v < std::ssize(roots); ++v)
    if (is_part(graph, roots, v)) ++uses[roots[v]];
  for (const auto& [_, parts] : joined)
    for (const ValueId part : parts) ++uses[part];
  return uses;
}

bool is_part(const Graph& graph, const List<ValueId>& roots, ValueId v) {
  const ValueId root = roots[v];
  const auto elements = [&](ValueId of) { return element_count(graph.values[of].operand.shape); };
  return root != v && elements(v) != elements(root);
}

TileRoom machine_room(const Machine& machine, WeightPlace weights) {
  TileRoom room;
  room.weight_bytes = weights == WeightPlace::psram ? machine.psram_bytes - machine.psram_pinned_bytes : 0;
  room.weights_multiply = weights == WeightPlace::fefet;
  room.buffers = machine.tile_buffering == Buffering::double_buffer ? 2 : 1;
  room.weight_buffers = machine.weight_buffering == Buffering::double_buffer ? 2 : 1;
  room.activation_bits = bits_of(machine.activation_format);
  room.accumulator_bits = bits_of(machine.accumulator_format);
  room.form = weight_form(machine);
  room.search = machine.tile_search;
  room.goal = machine.tile_goal;
  room.burst_bytes = dram_channels(machine).access_bytes;
  return room;
}

void give_formats(TileRoom& room, const InstructionClass& c, const Machine& machine) {
  if (!c.formats) return;
  room.activation_bits = std::max(bits_of(c.formats->activations), bits_of(c.formats->results));
  room.accumulator_bits = bits_of(c.formats->accumulators.value_or(machine.accumulator_format));
  room.form = weight_form(c, machine);
}

TileRoom room_for(const InstructionClass& c, const Machine& machine, WeightPlace weights) {
  TileRoom room = machine_room(machine, weights);
  give_formats(room, c, machine);
  return room;
}

}  // namespace sdip
