// A nest walked tile operation by tile operation.
#include "core/exec/walk/nest_walk.h"

namespace sdip::exec {

TileOperation tile_of_a(const LoopNest& nest, bool weighted, const TileOperation& tile) {
  TileOperation a{tile.copies, tile.rows, tile.columns, {}, tile.sums};
  const std::int64_t in_group = nest.out_channels;
  if (weighted && nest.groups > 1)  // its channels are those of their groups
    a.channels = {tile.channels.begin / in_group, (tile.channels.end + in_group - 1) / in_group};
  return a;
}

TileOperation tile_of_b(bool weighted, const TileOperation& tile) {
  return {weighted ? Extent{} : tile.copies, {}, {}, tile.channels, tile.sums};
}

TileOperation tile_of_result(const TileOperation& tile) {
  return {tile.copies, tile.rows, tile.columns, tile.channels, {}};
}

NestStep step_after(const std::optional<NestStep>& before, const LoopNest& nest, bool weighted,
                    const TileOperation& tile) {
  NestStep step{tile, tile_of_a(nest, weighted, tile), tile_of_b(weighted, tile), tile_of_result(tile)};
  if (!before) return step;
  step.loads_a = step.a != before->a;
  step.loads_b = step.b != before->b;
  const auto follows = [&](Extent TileOperation::*extent) {
    TileOperation same = before->a;
    same.*extent = step.a.*extent;
    return same == step.a && (step.a.*extent).begin == (before->a.*extent).end;
  };
  step.next_rows = step.loads_a && follows(&TileOperation::rows);
  step.next_columns = step.loads_a && follows(&TileOperation::columns);
  step.partials_come = !tile.first_sums && step.result != before->result;
  return step;
}

}  // namespace sdip::exec
