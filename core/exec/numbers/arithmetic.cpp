// Which operators a tile of the result needs a tile of the operands for.
#include "core/exec/numbers/arithmetic.h"

#include "core/ops/use.h"

namespace sdip::exec {

bool is_pointwise(const Node& node) {
  return !node.op->random && node.outputs.size() == 1 &&
         (node.op->work == elementwise_work || node.op->type == "Cast");
}

}  // namespace sdip::exec
