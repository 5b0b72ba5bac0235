// Which operators the host computes.
#include "core/cost/work/host.h"

namespace sdip {

bool on_host(const InstructionClass& c, HostOperators host_operators) {
  if (c.compound != Compound::single || host_operators == HostOperators::no_operators) return false;
  return c.work.family == Family::softmax ||
         (c.work.family == Family::norm && host_operators == HostOperators::softmax_and_norm);
}

}  // namespace sdip
