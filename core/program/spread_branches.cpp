// pass `spread_branches`: with branches=parallel the heads of one instruction are shared by several cores.
//
// Worked example. An attention of 12 heads on a machine of 8 cores: 6 is the largest number of them that divides
// the heads. Each of 6 cores has 2 heads; the instruction's sizes become those of 2 heads.
#include <algorithm>

#include "core/program/passes.h"

namespace sdip {
namespace {

/// The most of `cores` that share `heads` evenly.
std::int64_t sharing_cores(std::int64_t heads, std::int64_t cores) {
  std::int64_t most = std::min(heads, cores);
  while (heads % most != 0) --most;
  return most;
}

}  // namespace

// Operands that have an element for each result of the product are shared, others read whole by each core.
void spread(Draft& draft, std::int64_t cores) {
  const LoopNest& nest = draft.work.nest;  // of an attention: its scores
  const std::int64_t results = nest.groups * nest.out_h * nest.out_channels;
  const auto share_fetch = [&](Fetch& fetch) {
    if (fetch.elements == results) fetch.elements /= cores;
  };
  draft.spread_cores = cores;
  draft.out_elements /= cores;
  for (DraftOperand& operand : draft.operands) share_fetch(operand.fetch);
  for (Fetch& fetch : draft.weight_fetches) share_fetch(fetch);
  draft.work.nest.groups /= cores;
  for (Part& part : draft.parts) {
    part.out_elements /= cores;
    (part.work.family == Family::matmul ? part.work.nest.groups : part.work.rows) /= cores;
  }
}

void spread_branches(Compilation& c) {
  if (c.machine.branches == Branches::serial) return;
  const bool one_frame = (c.role == Role::network && c.part.count == 1) || c.role == Role::text_encoder;
  if (!one_frame) return;  // every core has a frame, or a part of the network, of its own
  for (Draft& draft : c.drafts) {
    const bool heads = draft.work.family == Family::matmul && !draft.weighted && draft.compound != Compound::strips;
    if (heads) spread(draft, sharing_cores(draft.work.nest.groups, c.machine.cores));
  }
}

}  // namespace sdip
