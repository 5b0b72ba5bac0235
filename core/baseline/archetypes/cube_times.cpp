// Kernels of a network on DaVinci cores: what is no product, what joins what, and times.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/baseline/archetypes/cube.h"

namespace sdip {
namespace {

/// Pieces in which a kernel without the cube goes through UB, of one core: elements in and out, lane operations.
struct CubeStream {
  double read = 0, written = 0, operations = 0;
};

CubeStream stream_of_core(const CubeStream& all, const CubeMachine& m) {
  const auto cores = static_cast<double>(m.cores);
  return {std::ceil(all.read / cores), std::ceil(all.written / cores), std::ceil(all.operations / cores)};
}

CubePipeline stream_pipeline(const CubeStream& core, double pieces, const CubeMachine& m) {
  const auto sync = static_cast<double>(m.sync_cycles);
  const double size = m.bytes_per_element / pieces;
  CubePipeline p{.tiles = pieces};
  p.mte2 = std::ceil(size * core.read / m.gm_to_core_bytes_per_cycle) + sync;
  p.vector = std::ceil(core.operations / pieces / static_cast<double>(m.vector_lanes)) + sync;
  p.mte3 = std::ceil(size * core.written / m.core_to_gm_bytes_per_cycle) + sync;
  return p;
}

CubeKernel stream_kernel(const CubeStream& all, const CubeMachine& m) {
  const CubeStream core = stream_of_core(all, m);
  // Two pieces each of what comes in and what goes out.
  const double least = std::max(1.0, std::ceil(2 * m.bytes_per_element * (core.read + core.written) / m.ub_bytes));
  CubeKernel best;
  for (double pieces = least; pieces <= 16 * least; pieces *= 2) {
    CubeKernel kernel{.tiling = {}, .pipeline = stream_pipeline(core, pieces, m)};
    kernel.cycles = pipeline_cycles(kernel.pipeline);
    if (best.cycles == 0 || kernel.cycles < best.cycles) best = kernel;
  }
  return best;
}

double activations_of(const Layer& layer) {
  return static_cast<double>(layer.a_elements + layer.b_elements + layer.other_elements);
}

/// The product of an input that im2col_kernel has written out.
Layer expanded_layer(const Layer& layer, const CubeMachine& m) {
  const MatrixProduct p = cube_product_of(layer, m);
  Layer expanded = layer;
  expanded.work.family = Family::linear;
  expanded.work.nest = {.groups = p.count, .out_channels = p.columns, .in_channels = p.terms, .out_h = p.rows};
  expanded.a_elements = p.count * p.rows * p.terms;
  return expanded;
}

bool needs_im2col(const Layer& layer) {
  const LoopNest& n = layer.work.nest;
  return layer.work.family == Family::conv2d && n.kernel_h * n.kernel_w * n.stride_h * n.stride_w > 1;
}

CubeLayerTime time_of_kernel(const CubeKernel& kernel, double launch_s, const MachineRates& rates) {
  const CubePipeline& p = kernel.pipeline;
  CubeLayerTime result{.bound = busiest_queue(p)};
  LayerTime& time = result.time;
  time.dram_bytes = kernel.dram_bytes;
  time.memory_s = kernel.dram_bytes / rates.dram_bytes_per_s;
  time.compute_s = p.tiles * p.steps * p.cube / rates.clock_hz;
  time.vector_s = p.tiles * p.vector / rates.clock_hz;
  time.on_chip_s =
      std::max({p.preload + p.tiles * p.steps * p.mte2, p.tiles * p.steps * p.mte1, p.tiles * p.mte3}) /
      rates.clock_hz;
  time.overhead_s = launch_s;
  const double queues_s = kernel.cycles / rates.clock_hz;
  if (time.memory_s > queues_s) result.bound = CubeBound::dram;
  time.seconds = launch_s + std::max(queues_s, time.memory_s);
  return result;
}

void add_time(CubeLayerTime& sum, const CubeLayerTime& one, double times) {
  if (one.time.seconds * times > sum.time.seconds) sum.bound = one.bound;
  sum.kernels += times * one.kernels;
  add_time(sum.time, one.time, times);
}

CubeLayerPlan plan_of_layer(const Layer& layer, const CubeJoined& joined, const CubeMachine& m) {
  if (!is_product(layer)) return {.kernels = {vector_kernel(layer, joined, m)}};
  if (m.im2col_by_engine || !needs_im2col(layer)) return {.kernels = product_kernels(layer, joined, m)};
  return {.expanding = im2col_kernel(layer, m), .kernels = product_kernels(expanded_layer(layer, m), joined, m)};
}

CubeLayerTime time_at(const CubeLayerPlan& plan, double launch_s, const MachineRates& rates) {
  CubeLayerTime time = time_of_kernel(best_kernel(plan.kernels, rates), launch_s, rates);
  if (plan.expanding) {
    CubeLayerTime both = time_of_kernel(*plan.expanding, launch_s, rates);
    add_time(both, time, 1);
    time = both;
  }
  if (!plan.left) return time;
  CubeLayerTime of_those_left{.kernels = 0};
  add_time(of_those_left, time, *plan.left);
  return of_those_left;
}

/// The operators that joined each kernel, and how many of each fused layer joined none.
struct CubeJoints {
  std::vector<CubeJoined> joined;
  std::vector<double> left;
};

/// The engines read and write another order on the way (LoadDataWithTranspose of Ascend C).
bool is_fused_order(const Layer& layer) {
  return layer.joint == Joint::fused && layer.work.family == Family::transpose;
}

/// The most parts that a result is split into: a gated linear unit has two; queries, keys and values are three.
constexpr std::int64_t most_parts_joined = 3;

CubeJoints joints_of_layers(std::span<const Layer> layers) {
  CubeJoints joints{std::vector<CubeJoined>(layers.size()), std::vector<double>(layers.size())};
  for (std::size_t n = 0; n < layers.size(); ++n) {
    const Layer& layer = layers[n];
    if (layer.joint != Joint::fused || is_fused_order(layer)) continue;
    auto left = static_cast<double>(layer.times);
    const auto join = [&](std::size_t to, std::int64_t parts) {
      const Layer& kernel = layers[to];
      if (left <= 0 || kernel.joint == Joint::fused || kernel.output_elements != parts * layer.a_elements) return;
      const double share = std::min(left, static_cast<double>(kernel.times)) / static_cast<double>(kernel.times);
      joints.joined[to].operations += share * static_cast<double>(operations_of(layer));
      joints.joined[to].elements +=
          share * static_cast<double>(layer.b_elements + layer.other_elements + layer.weight_elements);
      left -= share * static_cast<double>(kernel.times);
    };
    for (std::int64_t parts = 1; parts <= most_parts_joined; ++parts) {
      for (std::size_t to = n; to-- > 0;) join(to, parts);
      for (std::size_t to = n + 1; to < layers.size(); ++to) join(to, parts);
    }
    joints.left[n] = left / static_cast<double>(layer.times);
  }
  return joints;
}

}  // namespace

CubeKernel vector_kernel(const Layer& layer, const CubeJoined& joined, const CubeMachine& m) {
  const double activations = activations_of(layer) + joined.elements,
               weights = static_cast<double>(layer.weight_elements),
               written = static_cast<double>(layer.output_elements);
  CubeKernel kernel = stream_kernel(
      {activations + weights, written, joined.operations + static_cast<double>(operations_of(layer))}, m);
  const bool stays = m.bytes_per_element * (activations + written) <= m.l2_bytes;
  kernel.dram_bytes = m.bytes_per_element * (weights + (stays ? 0 : activations + written));
  return kernel;
}

CubeKernel im2col_kernel(const Layer& layer, const CubeMachine& m) {
  const MatrixProduct p = cube_product_of(layer, m);
  const auto read = static_cast<double>(layer.a_elements);
  const double written = static_cast<double>(p.count * p.rows) * static_cast<double>(p.terms);
  CubeKernel kernel = stream_kernel({read, written, 0}, m);
  const double bytes = m.bytes_per_element * (read + written);
  kernel.dram_bytes = bytes <= m.l2_bytes ? 0 : bytes;
  return kernel;
}

CubePlan cube_plan(std::span<const Layer> layers, const CubeMachine& m) {
  check(m.cores > 0 && m.vector_lanes > 0 && m.gm_to_core_bytes_per_cycle > 0 && m.l1_to_l0a_bytes_per_cycle > 0 &&
            m.l1_to_l0b_bytes_per_cycle > 0 && m.l0c_to_ub_bytes_per_cycle > 0 &&
            m.core_to_gm_bytes_per_cycle > 0 && holds_a_cube(m),
        "cube_plan: a machine's figures are positive, and its buffers hold a cube");
  CubeJoints joints{std::vector<CubeJoined>(layers.size()), std::vector<double>(layers.size(), 1)};
  if (m.fused) joints = joints_of_layers(layers);
  CubePlan plan{.launch_s = m.launch_s};
  plan.layers.reserve(layers.size());
  for (std::size_t n = 0; n < layers.size(); ++n) {
    CubeLayerPlan& planned = plan.layers.emplace_back();
    const bool joins = layers[n].joint == Joint::fused && m.fused;
    if (!joins || joints.left[n] > 0)
      planned = plan_of_layer(layers[n], joins ? CubeJoined{} : joints.joined[n], m);
    if (joins) planned.left = joints.left[n];
  }
  return plan;
}

std::vector<CubeLayerTime> cube_times(const CubePlan& plan, const MachineRates& rates) {
  check(rates.clock_hz > 0 && rates.dram_bytes_per_s > 0, "cube_times: rates are positive");
  std::vector<CubeLayerTime> times;
  times.reserve(plan.layers.size());
  for (const CubeLayerPlan& layer : plan.layers)
    times.push_back(layer.kernels.empty() ? CubeLayerTime{.kernels = 0} : time_at(layer, plan.launch_s, rates));
  return times;
}

std::vector<CubeLayerTime> cube_times(std::span<const Layer> layers, const CubeMachine& machine) {
  return cube_times(cube_plan(layers, machine), {machine.clock_hz, machine.dram_bytes_per_s});
}

MappedLayers mapped_layers(std::span<const Layer> layers, const CubeMachine& machine) {
  return [plan = cube_plan(layers, machine)](const MachineRates& rates) {
    std::vector<LayerTime> times;
    times.reserve(plan.layers.size());
    for (const CubeLayerTime& one : cube_times(plan, rates)) times.push_back(one.time);
    return times;
  };
}

std::vector<LayerTime> times_of(std::span<const Layer> layers, const CubeMachine& machine) {
  return mapped_layers(layers, machine)({machine.clock_hz, machine.dram_bytes_per_s});
}

}  // namespace sdip
