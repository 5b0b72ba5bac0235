// Fused attention: each head, row tile and key tile, its steps one after the other. Products and fused masks are
// stepped as instructions of their own; softmax, accumulators and division fold by fold here. Tiles of equal sizes
// have equal folds, which are gone through once.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/exec/clock/port_beats.h"
#include "core/exec/walk/attention_walk.h"

namespace sdip::exec {
namespace {

class AttentionExpansion {
 public:
  AttentionExpansion(const InstructionClass& c, const Machine& m, Role role)
      : c_(c),
        m_(m),
        role_(role),
        heads_(c.work.nest.groups),
        queries_(c.work.nest.out_h),
        keys_(c.work.nest.out_channels),
        depth_(c.work.nest.in_channels),
        values_(c.parts[2].work.nest.out_channels),
        narrow_(bits_of(m.activation_format)),
        wide_(bits_of(m.accumulator_format)) {}

  std::vector<Operation> run() {
    const Count rows = c_.mapping.tile_rows, keys = c_.mapping.tile_channels;
    several_ = keys < keys_;
    operations_ = heads_ * ceil_div(queries_, rows) * ceil_div(keys_, keys);
    for_each_attention_step(c_.work.nest, c_.mapping, [this](const AttentionStep& step) { operate(step); });
    return std::move(done_);
  }

 private:
  void operate(const AttentionStep& step) {
    const Count r = step.queries.size(), k = step.keys.size();
    const bool last = step.last;
    const auto [entry, fresh] = folded_.try_emplace({r, k, last});
    if (fresh) fold(r, k, last, entry->second);
    Operation& o = done_.emplace_back(entry->second);
    if (c_.operand_a == Place::dram) {
      o.a_tile = step.head * queries_ + step.queries.begin;
      if (step.first) o.a_bytes = ceil_div(r * depth_ * narrow_, 8);
    }
    const bool keys_come = c_.operand_b == Place::dram, values_come = c_.parts[2].operand_b == Place::dram;
    if (keys_come || values_come) o.b_tile = step.head * keys_ + step.keys.begin;
    if (keys_come && step.loads_keys) o.b_bytes += ceil_div(k * depth_ * narrow_, 8);
    if (values_come && step.loads_keys) o.b_bytes += ceil_div(k * values_ * narrow_, 8);
    if (last && c_.to_dram) o.out_bytes = ceil_div(r * values_ * narrow_, 8);
  }

  /// The needs of one part of the queries.
  struct PartNeeds {
    Needs scores, softmax, product;
  };

  /// Part by part down a line of three: the arrays make scores, the softmax circuit takes them, the arrays multiply
  /// by the values. In a turn each part moves one place on.
  void fold(Count r, Count k, bool last, Operation& o) const {
    const std::vector<Count> parts = pieces(r, ceil_div(r, m_.attention_parts));
    std::map<Count, PartNeeds> of_size;
    for (const Count size : parts)
      if (!of_size.contains(size)) of_size[size] = {scores(size, k, false), softmax(size, k), product(size, k)};
    for (std::size_t turn = 0; turn < parts.size() + 2; ++turn) {
      Needs in_arrays, in_softmax;
      if (turn == 0) in_arrays += scores(parts[0], k, true);
      if (turn > 0 && turn < parts.size()) in_arrays += of_size.at(parts[turn]).scores;
      if (turn > 0 && turn <= parts.size()) in_softmax += of_size.at(parts[turn - 1]).softmax;
      if (turn > 1) in_arrays += of_size.at(parts[turn - 2]).product;
      Needs both = in_arrays;
      both += in_softmax;
      both.compute = std::max(in_arrays.compute, in_softmax.compute);
      add_step(both, o);
    }
    if (last) add_step(division(r), o);
    o.other_bytes = mask_bytes(r, k);
    if (m_.granularity == Granularity::micro_operation)
      o.commands = std::ssize(micro_operations_of_attention(c_, m_, role_, several_, last));
  }

  static void add_step(const Needs& step, Operation& o) {
    o.needs += step;
    o.steps_cycles += step.longest();
  }

  Count mask_bytes(Count r, Count k) const {
    Count bytes = 0;
    for (const Fetch& f : c_.fetches)
      if (f.place == Place::dram)
        bytes += ceil_div((f.per_fold ? r * k : ceil_div(f.elements, operations_)) * narrow_, 8);
    return bytes;
  }

  /// One of the two products of some rows, as an instruction of its own.
  static InstructionClass part_alone(const FusedOperator& of, Count rows, Count columns, Count sums) {
    InstructionClass step;
    step.work = of.work;
    step.work.nest = {};
    step.work.nest.out_h = step.work.nest.in_h = rows;
    step.work.nest.out_channels = columns;
    step.work.nest.in_channels = sums;
    step.mapping = {rows, 1, columns, sums, rows_outermost};
    step.operand_b = of.operand_b;
    step.pair_b = of.pair_b;
    return step;
  }

  /// The first part's bring operands that are smaller than the scores, which the others find.
  Needs scores(Count r, Count k, bool first) const {
    InstructionClass step = part_alone(c_, r, k, depth_);
    step.operand_a = c_.operand_a;
    step.pair_a = c_.pair_a;
    step.fused_operators = c_.fused_operators;
    step.fused_passes = c_.fused_passes;
    for (Fetch f : c_.fetches) {
      if (!f.per_fold && !first) continue;
      f.elements = f.per_fold ? r * k : ceil_div(f.elements, operations_);
      step.fetches.push_back(f);
    }
    return expand(step, m_, role_, c_.work.family).at(0).needs;
  }

  Needs product(Count r, Count k) const {
    InstructionClass step = part_alone(c_.parts[2], r, values_, k);
    step.operand_a = Place::dsram;
    step.to_dsram = false;
    Needs needs = expand(step, m_, role_, c_.work.family).at(0).needs;
    const bool shared = m_.mac_sharing == MacSharing::shared;
    const Count row_lanes = shared ? m_.conv_lanes_pixel : m_.matmul_lanes_m;
    const Count lanes = shared ? m_.conv_lanes_out : m_.matmul_lanes_n;
    for (Count i = 0; i < r; i += row_lanes)
      for (Count j = 0; j < values_; j += lanes) {
        const Count sums = std::min(row_lanes, r - i) * std::min(lanes, values_ - j);
        needs[Port::dsram_write] += beats(sums, wide_);
        if (several_) needs[Port::dsram_read] += beats(sums, wide_);
      }
    return needs;
  }

  Needs softmax(Count r, Count k) const {
    Needs needs;
    for (const Count fold : folds(r, k)) {
      needs.compute += 2;  // maximum; exponential and sum
      needs[Port::dsram_read] += 2 * beats(fold, narrow_);
    }
    for (Count left = r * k; left > 0; left -= m_.softmax_lanes)
      needs[Port::dsram_write] += beats(std::min(left, m_.softmax_lanes), narrow_);
    needs[Port::dsram_read] += beats(2 * r, wide_);  // running maximum and sum
    needs[Port::dsram_write] += beats(2 * r, wide_);
    if (!several_) return needs;
    for (const Count fold : folds(r, values_)) {
      ++needs.compute;
      needs[Port::dsram_read] += beats(fold, wide_);
    }
    for (Count left = r * values_; left > 0; left -= m_.softmax_lanes)
      needs[Port::dsram_write] += beats(std::min(left, m_.softmax_lanes), wide_);
    return needs;
  }

  Needs division(Count r) const {
    Needs needs;
    for (const Count fold : folds(r, values_)) {
      ++needs.compute;
      needs[Port::dsram_read] += beats(fold, wide_);
    }
    needs[Port::dsram_read] += beats(r, wide_);
    write_results(c_, Ports(m_, role_, c_.work.family), pieces(r * values_, m_.softmax_lanes), narrow_, needs);
    put_stack_in_psram(m_, needs);
    return needs;
  }

  Count beats(Count elements, Count bits) const { return ceil_div(elements * bits, m_.dsram_port_bits); }

  /// Elements of each fold of a pass over r rows: whole short rows together, long ones apart.
  std::vector<Count> folds(Count r, Count length) const {
    std::vector<Count> sizes;
    const Count lanes = m_.softmax_lanes;
    if (length < lanes && r > 1) {
      for (Count row = 0; row < r; row += lanes / length)
        sizes.push_back(std::min(lanes / length, r - row) * length);
      return sizes;
    }
    for (Count row = 0; row < r; ++row)
      for (Count at = 0; at < length; at += lanes) sizes.push_back(std::min(lanes, length - at));
    return sizes;
  }

  const InstructionClass& c_;
  const Machine& m_;
  const Role role_;
  Count heads_, queries_, keys_, depth_, values_, narrow_, wide_, operations_ = 1;
  bool several_ = false;
  std::map<std::tuple<Count, Count, bool>, Operation> folded_;
  std::vector<Operation> done_;
};

}  // namespace

std::vector<Operation> expand_attention(const InstructionClass& c, const Machine& machine, Role role) {
  return AttentionExpansion(c, machine, role).run();
}

}  // namespace sdip::exec
