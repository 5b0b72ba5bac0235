// Chains that are alike but for the numbers of their values are cut alike: of the transformer blocks of a U-Net few
// differ.
#include "core/program/fusing/alike_chains.h"

#include <tuple>

namespace sdip {
namespace {

/// Which value of another chain stands for each of one; every value for one alone.
class Counterparts {
 public:
  Counterparts(const Compilation& c, const List<std::int32_t>& uses) : c_(c), uses_(uses) {}

  bool match(ValueId a, ValueId b) {
    const auto [of_a, fresh] = b_of_.try_emplace(a, b);
    const auto [of_b, fresh_too] = a_of_.try_emplace(b, a);
    return of_a->second == b && of_b->second == a && (!fresh || cost_alike(a, b));
  }

 private:
  auto asked(ValueId v) const {
    const Value& value = c_.graph->values[v];
    const Life& life = c_.lives[v];
    return std::tuple(value.kind, is_scalar(value), life.bytes, life.in_dram, life.leaves_by_dram, uses_[v]);
  }
  bool cost_alike(ValueId a, ValueId b) const { return a == b || asked(a) == asked(b); }

  const Compilation& c_;
  const List<std::int32_t>& uses_;
  std::map<ValueId, ValueId> a_of_, b_of_;
};

bool is_alike(const Draft& a, const Draft& b, Counterparts& values) {
  const auto said = [](const Draft& d) {
    return std::tie(d.work, d.out_elements, d.weighted, d.elementwise, d.weight_elements, d.bias_elements,
                    d.held_weight_elements, d.fused, d.weight_fetches, d.rule, d.prologue, d.prologue_passes,
                    d.statistics_passes, d.prologue_sums, d.compound, d.parts, d.line_buffers, d.spread_cores,
                    d.shares_channels, d.turned_run, d.formats);
  };
  if (said(a) != said(b) || a.operands.size() != b.operands.size()) return false;
  for (std::size_t o = 0; o < a.operands.size(); ++o) {
    const DraftOperand &x = a.operands[o], &y = b.operands[o];
    if (x.fetch != y.fetch || x.aligned != y.aligned || !values.match(x.value, y.value)) return false;
  }
  return values.match(a.destination, b.destination);
}

}  // namespace

bool are_alike(const Compilation& c, const List<std::int32_t>& uses, const StripChain& a, const StripChain& b) {
  if (a.family != b.family || a.line_buffers != b.line_buffers || a.drafts.size() != b.drafts.size() ||
      a.rows != b.rows || a.may_begin != b.may_begin || a.begins_in_order != b.begins_in_order ||
      a.attentions.size() != b.attentions.size())
    return false;
  Counterparts values(c, uses);
  for (std::size_t i = 0; i < a.drafts.size(); ++i)
    if (!is_alike(a.drafts[i], b.drafts[i], values)) return false;
  for (auto of_a = a.attentions.begin(), of_b = b.attentions.begin(); of_a != a.attentions.end(); ++of_a, ++of_b)
    if (of_a->first != of_b->first || !is_alike(of_a->second, of_b->second, values)) return false;
  return true;
}

}  // namespace sdip
