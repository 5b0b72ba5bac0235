// pass `fuse_pointwise`: elementwise operators join the operator that makes their operand.
#include <algorithm>

#include "core/program/compile/passes.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

bool joins(const Machine& machine, const Draft& before, const Draft& next, const List<std::int32_t>& uses) {
  if (!share_formats(before, next, machine)) return false;
  if (!next.elementwise || next.out_elements != before.out_elements) return false;
  if (before.compound == Compound::attention) return false;  // what is fused there belongs to the scores
  if (!is_nest(before.work.family) && before.work.family != Family::vector && before.work.family != Family::norm &&
      before.work.family != Family::softmax && before.work.family != Family::transpose)
    return false;
  const auto reads = [&](const DraftOperand& operand) { return operand.value == before.destination; };
  return std::ranges::count_if(next.operands, reads) == 1 && uses[before.destination] == 1;
}

constexpr std::size_t farthest = 16;  // drafts looked back over

/// Makes the draft that `next` may join the last one: it is, or those behind it make together fewer elements than
/// it does and can run before it, since nobody but `next` uses its result. False when there is none.
bool bring_to_end(const Machine& machine, List<Draft>& drafts, const Draft& next, const List<std::int32_t>& uses) {
  std::int64_t made_since = 0;
  for (std::size_t back = 1; back <= std::min(farthest, drafts.size()); ++back) {
    const auto at = drafts.end() - static_cast<std::ptrdiff_t>(back);
    if (joins(machine, *at, next, uses)) {
      if (made_since >= at->out_elements && back > 1) return false;
      std::rotate(at, at + 1, drafts.end());
      return true;
    }
    made_since += at->out_elements;
  }
  return false;
}

}  // namespace

void fuse_pointwise(Compilation& c) {
  if (c.machine.fusion == Fusion::no_fusion) return;
  const List<std::int32_t> uses = use_counts(c);
  List<Draft> joined;
  joined.reserve(c.drafts.size());
  for (Draft& draft : c.drafts) {
    if (bring_to_end(c.machine, joined, draft, uses))
      join_behind(joined.back(), draft);
    else
      joined.push_back(std::move(draft));
  }
  c.drafts = std::move(joined);
}

}  // namespace sdip
