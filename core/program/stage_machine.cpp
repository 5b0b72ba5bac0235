// The machine that a stage runs on: the cores', or a circuit of its own.
#include "core/program/workload.h"

namespace sdip {

bool is_circuit(const Machine& machine, Role role) {
  return machine.vae_stage == VaeStage::circuit && (role == Role::encoder || role == Role::decoder);
}

Machine machine_of_stage(Machine m, Role role) {
  if (!is_circuit(m, role)) return m;
  const auto own = [](std::int64_t lanes, auto&... cores) {
    if (lanes > 0) ((cores = lanes), ...);
  };
  own(m.vae_conv_lanes_in, m.conv_lanes_in);
  own(m.vae_conv_lanes_out, m.conv_lanes_out);
  own(m.vae_conv_lanes_pixel, m.conv_lanes_pixel);
  own(m.vae_matmul_lanes_m, m.linear_lanes_m, m.matmul_lanes_m);
  own(m.vae_matmul_lanes_n, m.linear_lanes_n, m.matmul_lanes_n);
  own(m.vae_matmul_lanes_k, m.linear_lanes_k, m.matmul_lanes_k);
  own(m.vae_vector_lanes, m.vector_lanes, m.softmax_lanes, m.norm_lanes, m.transpose_lanes);
  m.sequencer = Sequencer::central;
  m.dispatch_cycles = 0;
  m.program_storage = ProgramStorage::held;
  m.host_operators = HostOperators::no_operators;
  return m;
}

}  // namespace sdip
