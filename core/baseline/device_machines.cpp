// From a device's figures to the machine that its model reads.
#include "core/baseline/device_machines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/shared_cache.h"
#include "core/baseline/archetypes/cpu.h"
#include "core/baseline/archetypes/cube.h"
#include "core/baseline/archetypes/row_stationary.h"
#include "core/baseline/archetypes/simd_tree.h"
#include "core/baseline/archetypes/simt.h"
#include "core/baseline/archetypes/systolic.h"
#include "core/baseline/archetypes/tiles.h"
#include "core/baseline/device_run.h"

namespace sdip {
namespace {

constexpr double mega = 1e6, giga = 1e9, kib = 1024, mib = 1024 * 1024;

double need(const Device& device, std::string_view key) {
  const auto value = figure_of(device, key);
  check(value.has_value(), "a device's machine: no figure is lacking");
  return *value;
}
std::int64_t count(const Device& device, std::string_view key) { return std::llround(need(device, key)); }

/// By a model that takes less time than to remember what it found.
template <class DeviceMachine>
MappedLayers at_any_rates(std::span<const Layer> layers, const DeviceMachine& machine) {
  return [layers = std::vector<Layer>(layers.begin(), layers.end()), machine](const MachineRates& rates) {
    DeviceMachine at = machine;
    at.clock_hz = rates.clock_hz;
    at.dram_bytes_per_s = rates.dram_bytes_per_s;
    return times_of(layers, at);
  };
}

MappedLayers on_systolic(const Device& device, std::span<const Layer> layers, bool) {
  SystolicMachine m;
  // The planes of a cube work on rows of their own, as arrays beside each other do.
  m.arrays = count(device, "arrays") * std::llround(figure_of(device, "cube_depth").value_or(1));
  m.array = {count(device, "array_rows"), count(device, "array_columns"), SystolicDataflow::weight_stationary};
  m.accumulator_bytes =
      figure_of(device, "accumulator_mib").value_or(0) * mib / static_cast<double>(count(device, "arrays"));
  m.buffer_bytes = need(device, "buffer_mib") * mib;
  m.vector_operations_per_s = need(device, "vector_gops") * giga;
  m.bytes_per_element = bytes_per_element(device);
  return at_any_rates(layers, m);
}

/// MN-Core 2's levels, links and steps, with the device's numbers of blocks, memories, clock and memory rate, and
/// the matrix unit of an MN-Core that does as much in a cycle; nothing where there is none.
std::optional<SimdTree> tree_of(const Device& device) {
  constexpr std::int64_t groups = 4;
  SimdTree tree = mn_core_2();
  const std::int64_t blocks = count(device, "l2_blocks");
  const std::int64_t branching[] = {groups, blocks / groups, count(device, "l1_blocks_per_l2"),
                                    count(device, "mabs_per_l1"), count(device, "pes_per_mab")};
  // The planner tries the ways in which a product is split over the levels: of larger trees they are too many.
  constexpr std::int64_t most_units = 32'768, most_branching = 32;
  if (blocks % groups != 0 || std::ranges::max(branching) > most_branching) return std::nullopt;
  std::int64_t units = 1;
  for (const std::int64_t here : branching) units *= here;
  if (units > most_units) return std::nullopt;
  for (std::size_t level = 0; level < tree.levels.size(); ++level) {
    if (!std::has_single_bit(static_cast<std::uint64_t>(branching[level]))) return std::nullopt;
    tree.levels[level].branching = branching[level];
  }
  tree.levels[0].memory_bytes = std::llround(figure_of(device, "pdm_kib").value_or(0) * kib);
  tree.levels.back().memory_bytes = std::llround(need(device, "lm_kib_per_pe") * kib);
  const double wanted = need(device, "tensor_flops_per_cycle");
  for (const SimdTree& known : {mn_core_2(), mn_core_1()})
    for (const MatrixRate& rate : known.rates)
      if (static_cast<double>(rate.element_bytes) == bytes_per_element(device) &&
          static_cast<double>(2 * rate.rows * rate.columns) == wanted) {
        tree.rates = {rate};
        return tree;
      }
  return std::nullopt;
}

MappedLayers on_simd_tree(const Device& device, std::span<const Layer> layers, bool) {
  const SimdTree tree = *tree_of(device);
  const double into_l2 =
      figure_of(device, "dram_to_l2_gb_per_s").value_or(std::numeric_limits<double>::infinity()) * giga;
  return [schedule = schedule_of(layers, tree, tree.rates.front().format), into_l2](const MachineRates& rates) {
    return times_at(schedule, {rates.clock_hz, std::min(rates.dram_bytes_per_s, into_l2)});
  };
}

MappedLayers on_simt(const Device& device, std::span<const Layer> layers, bool eager) {
  SimtMachine m;
  m.processors = count(device, "processors");
  m.tensor_flops_per_cycle = need(device, "tensor_flops_per_cycle");
  m.l2_bytes = need(device, "l2_mib") * mib;
  m.l2_bytes_per_s = need(device, "l2_gb_per_s") * giga;
  m.shared_bytes = need(device, "shared_kib") * kib;
  m.bytes_per_element = bytes_per_element(device);
  if (const auto cluster = figure_of(device, "cluster")) {
    m.cluster = std::llround(*cluster);
    m.fine_tiles = true;
  }
  if (const auto share = figure_of(device, "tensor_share")) m.tensor_share = *share;
  m.eager = eager;
  m.fused_attention = !eager;
  return at_any_rates(layers, m);
}

/// Until all tiles have met: a step of Graphcore's bulk-synchronous machines takes 0.1 to some us.
constexpr double tiles_meet_s = 1e-6;

MappedLayers on_tiles(const Device& device, std::span<const Layer> layers, bool) {
  TiledMachine m;
  m.tiles = count(device, "tiles");
  m.macs_per_cycle = need(device, "macs_per_tile_per_cycle");
  m.operations_per_cycle = need(device, "vector_flops_per_cycle");
  m.tile_bytes = need(device, "tile_kib") * kib;
  m.exchange_bytes_per_s = need(device, "exchange_gb_per_s") * giga;
  m.bytes_per_element = bytes_per_element(device);
  m.step_s = tiles_meet_s;
  return mapped_layers(layers, m);
}

MappedLayers on_cube(const Device& device, std::span<const Layer> layers, bool eager) {
  CubeMachine m = cube_machine_of(device);
  m.fused = !eager;
  return mapped_layers(layers, m);
}

RowStationaryMachine row_stationary_of(const Device& device) {
  RowStationaryMachine m;
  m.rows = count(device, "array_rows");
  m.columns = count(device, "array_columns");
  m.input_words = count(device, "input_words_per_pe");
  m.weight_words = count(device, "weight_words_per_pe");
  m.sum_words = count(device, "sum_words_per_pe");
  m.bytes_per_element = bytes_per_element(device);
  m.buffer_words = std::llround(need(device, "buffer_kib") * kib / m.bytes_per_element);
  m.weight_bus = count(device, "weight_bus_words");
  m.input_bus = count(device, "input_bus_words");
  m.sum_bus = count(device, "sum_bus_words");
  m.vector_operations_per_s = need(device, "vector_gops") * giga;
  m.activation_compression = figure_of(device, "activation_compression").value_or(1);
  return m;
}

MappedLayers on_row_stationary(const Device& device, std::span<const Layer> layers, bool) {
  return mapped_layers(layers, row_stationary_of(device));
}

/// The unit that multiplies in the device's native format: a vector instruction that adds as many terms to a sum of
/// 32 bits as fit beside each other there, or AMX with tiles of 16 rows of 64 bytes.
CpuMultiplier cpu_multiplier(const Device& device) {
  constexpr std::int64_t sum_bits = 32, amx_rows = 16, amx_row_bytes = 64, amx_latency_cycles = 52;
  constexpr std::int64_t registers_avx512 = 32, registers_avx2 = 16, registers_amx = 8, amx_load_cycles = 8;
  const std::int64_t bytes = std::llround(bytes_per_element(device)), bits = count(device, "simd_bits");
  if (const auto cycles = figure_of(device, "amx_cycles"))
    return {amx_rows,      amx_rows, amx_row_bytes / bytes, 1, std::llround(*cycles), amx_latency_cycles,
            registers_amx, 1,        amx_load_cycles};
  CpuMultiplier m;
  m.columns = bits / sum_bits;
  m.terms = sum_bits / 8 / bytes;
  m.per_cycle = m.loads_per_cycle = count(device, "fma_per_cycle");
  m.registers = bits >= 512 ? registers_avx512 : registers_avx2;
  return m;
}

/// Whether the model has such a processor: registers of AVX2 or AVX-512, and no more cores than splits can be
/// tried.
bool has_cpu(const Device& device) {
  constexpr double most_cores = 256, most_fma_per_cycle = 8, most_amx_cycles = 1024;
  const double bits = need(device, "simd_bits");
  return (bits == 256 || bits == 512) && need(device, "cores") <= most_cores &&
         need(device, "fma_per_cycle") <= most_fma_per_cycle &&
         figure_of(device, "l3_groups").value_or(1) <= need(device, "cores") &&
         figure_of(device, "amx_cycles").value_or(1) <= most_amx_cycles;
}

/// What a runtime takes from an operator's end to the next one's start, and to fork and join a parallel region.
constexpr double cpu_launch_s = 1e-6, cpu_join_s = 5e-6;

MappedLayers on_cpu(const Device& device, std::span<const Layer> layers, bool eager) {
  CpuMachine m;
  m.cores = count(device, "cores");
  m.multiplier = cpu_multiplier(device);
  m.vector_lanes = count(device, "simd_bits") / 32;
  m.vector_ports = count(device, "fma_per_cycle");
  m.l1_bytes = need(device, "l1_kib") * kib;
  m.l2_bytes = need(device, "l2_kib") * kib;
  m.l3_bytes = need(device, "l3_mib") * mib;
  m.l2_bytes_per_cycle = need(device, "l2_bytes_per_cycle");
  m.l3_bytes_per_cycle = need(device, "l3_bytes_per_cycle");
  m.l3_groups = std::llround(figure_of(device, "l3_groups").value_or(1));
  m.core_dram_bytes_per_s = figure_of(device, "core_gb_per_s").value_or(0) * giga;
  m.bytes_per_element = bytes_per_element(device);
  m.launch_s = cpu_launch_s;
  m.join_s = cpu_join_s;
  m.eager = eager;
  m.keeps_weights = false;  // as of every device: a pass brings them
  return mapped_layers(layers, m);
}

using ModelledLayers = MappedLayers (*)(const Device&, std::span<const Layer>, bool eager);

/// Layers mapped before: of a network on a tree of memories that takes 0.4 s. Devices that differ in nothing but
/// rates share them.
class LayersKnown {
 public:
  std::shared_ptr<const MappedLayers> of(const Device& device, std::span<const Layer> layers, bool eager,
                                         ModelledLayers mapped) {
    Key key{device.archetype, device.native_format, {}, eager, {layers.begin(), layers.end()}};
    for (const DeviceFigure& figure : device.figures) {
      if (figure.key == "clock_mhz") continue;
      key.figure_keys += figure.key + " ";
      key.figures.push_back(figure.value);
    }
    if (const auto found = known_.find(key)) return *found;
    auto found = std::make_shared<const MappedLayers>(mapped(device, layers, eager));
    known_.keep(std::move(key), found);
    return found;
  }

 private:
  struct Key {
    Archetype archetype;
    std::string format;
    std::vector<double> figures;
    bool eager;
    std::vector<Layer> layers;
    std::string figure_keys = {};
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  SharedCache<std::map<Key, std::shared_ptr<const MappedLayers>>> known_{1024};
};

/// The model of an archetype: what it reads, and what it assumes.
struct ArchetypeModel {
  Archetype archetype;
  std::vector<std::string_view> keys;
  ModelledLayers mapped;
  std::vector<std::string> assumptions;
  double flops_each;                        // a cycle of each unit: of so many of
  std::vector<std::string_view> structure;  // these figures multiplied
};

const ArchetypeModel* model_of(Archetype archetype) {
  static const std::array<ArchetypeModel, 7> models = {{
      {Archetype::systolic,
       {"clock_mhz", "arrays", "array_rows", "array_columns", "buffer_mib", "vector_gops"},
       on_systolic,
       {"Predicted by the model of systolic arrays (docs/model/systolic.md): weights of the next fold are loaded "
        "behind the work of this one, elementwise work is fused as a compiler does, attention is not."},
       2,
       {"arrays", "array_rows", "array_columns", "cube_depth"}},
      {Archetype::simd_tree,
       {"clock_mhz", "l2_blocks", "l1_blocks_per_l2", "mabs_per_l1", "pes_per_mab", "lm_kib_per_pe",
        "tensor_flops_per_cycle"},
       on_simd_tree,
       {"Predicted by the model of a tree of memories under one instruction stream (docs/model/simd_tree.md), "
        "layouts planned over the whole network."},
       1,
       {"l2_blocks", "l1_blocks_per_l2", "mabs_per_l1", "tensor_flops_per_cycle"}},
      {Archetype::simt,
       {"clock_mhz", "processors", "tensor_flops_per_cycle", "l2_mib", "l2_gb_per_s", "shared_kib"},
       on_simt,
       {"Predicted by the model of SIMT machines (docs/model/simt.md), its four constants fitted on an A100: "
        "compiled kernels, fused attention."},
       1,
       {"processors", "tensor_flops_per_cycle"}},
      {Archetype::tiles,
       {"clock_mhz", "tiles", "macs_per_tile_per_cycle", "vector_flops_per_cycle", "tile_kib", "exchange_gb_per_s"},
       on_tiles,
       {"Predicted by the model of tiles that exchange (docs/model/devices.md): each layer is cut over all tiles, "
        "compute, exchange and DRAM go one after the other, a step of all tiles takes 1 us more."},
       2,
       {"tiles", "macs_per_tile_per_cycle"}},
      {Archetype::cube,
       {"clock_mhz", "cores", "cube_rows", "cube_columns", "cube_depth", "vector_lanes", "l0a_kib", "l0b_kib",
        "l0c_kib", "l1_kib", "ub_kib", "gm_to_core_bytes_per_cycle", "l1_to_l0a_bytes_per_cycle",
        "l1_to_l0b_bytes_per_cycle", "l0c_to_ub_bytes_per_cycle", "core_to_gm_bytes_per_cycle", "l2_mib"},
       on_cube,
       {"Predicted by the model of cube, vector unit and transfer engines with a queue each (docs/model/cube.md): "
        "tiles searched as a compiler does, two buffers of each piece, elementwise work joins the kernel before "
        "it, im2col by the engine; a wait for a flag and a launch take what the device's file assumes."},
       2,
       {"cores", "cube_rows", "cube_columns", "cube_depth"}},
      {Archetype::row_stationary,
       {"clock_mhz", "array_rows", "array_columns", "input_words_per_pe", "weight_words_per_pe", "sum_words_per_pe",
        "buffer_kib", "weight_bus_words", "input_bus_words", "sum_bus_words", "vector_gops"},
       on_row_stationary,
       {"Predicted by the model of row-stationary arrays (docs/model/row_stationary.md): each layer has the "
        "mapping "
        "that takes least, its results leave behind the last pass, zeros are neither skipped nor, unless a figure "
        "says so, coded."},
       2,
       {"array_rows", "array_columns"}},
      {Archetype::cpu,
       {"clock_mhz", "cores", "simd_bits", "fma_per_cycle", "l1_kib", "l2_kib", "l3_mib", "l2_bytes_per_cycle",
        "l3_bytes_per_cycle"},
       on_cpu,
       {"Predicted by the model of processors with wide registers (docs/model/cpu.md): a good library's "
        "micro-kernels "
        "and blocks, elementwise work fused, attention not; 1 us an operator and 5 us for all threads to begin and "
        "end."},
       2,
       {"cores"}},
  }};
  const auto found = std::ranges::find(models, archetype, &ArchetypeModel::archetype);
  return found == models.end() ? nullptr : &*found;
}

}  // namespace

double structural_flops(const Device& device) {
  const ArchetypeModel* model = model_of(device.archetype);
  if (model == nullptr) return 0;
  double flops = model->flops_each * (need(device, "clock_mhz") * mega);
  for (const std::string_view key : model->structure) flops *= figure_of(device, key).value_or(1);
  return device.archetype == Archetype::cpu ? flops * macs_per_cycle(cpu_multiplier(device)) : flops;
}

CubeMachine cube_machine_of(const Device& device) {
  CubeMachine m;
  m.clock_hz = need(device, "clock_mhz") * mega;
  m.cores = count(device, "cores");
  m.cube_rows = count(device, "cube_rows");
  m.cube_columns = count(device, "cube_columns");
  m.cube_depth = count(device, "cube_depth");
  m.vector_lanes = count(device, "vector_lanes");
  m.l0a_bytes = need(device, "l0a_kib") * kib;
  m.l0b_bytes = need(device, "l0b_kib") * kib;
  m.l0c_bytes = need(device, "l0c_kib") * kib;
  m.l1_bytes = need(device, "l1_kib") * kib;
  m.ub_bytes = need(device, "ub_kib") * kib;
  m.gm_to_core_bytes_per_cycle = need(device, "gm_to_core_bytes_per_cycle");
  m.l1_to_l0a_bytes_per_cycle = need(device, "l1_to_l0a_bytes_per_cycle");
  m.l1_to_l0b_bytes_per_cycle = need(device, "l1_to_l0b_bytes_per_cycle");
  m.l0c_to_ub_bytes_per_cycle = need(device, "l0c_to_ub_bytes_per_cycle");
  m.core_to_gm_bytes_per_cycle = need(device, "core_to_gm_bytes_per_cycle");
  m.l2_bytes = need(device, "l2_mib") * mib;
  m.dram_bytes_per_s = device.dram_bytes_per_s;
  m.bytes_per_element = bytes_per_element(device);
  m.sync_cycles = std::llround(figure_of(device, "sync_cycles").value_or(0));
  m.launch_s = figure_of(device, "launch_us").value_or(0) / mega;
  return m;
}

std::string lacking_figure(const Device& device) {
  if (device.peak_flops <= 0) return "peak";
  if (device.dram_bytes_per_s <= 0) return "dram_bandwidth";
  const ArchetypeModel* model = model_of(device.archetype);
  if (!model) return {};
  for (const std::string_view key : model->keys)
    if (!figure_of(device, key)) return std::string(key);
  if (device.archetype == Archetype::simd_tree && !tree_of(device)) return "a tree that the model has";
  if (device.archetype == Archetype::cube && !holds_a_cube(cube_machine_of(device)))
    return "buffers that hold a cube";
  if (device.archetype == Archetype::row_stationary && !is_row_stationary(row_stationary_of(device)))
    return "a buffer that holds a pass";
  if (device.archetype == Archetype::cpu && !has_cpu(device)) return "a core that the model has";
  if (structural_flops(device) > 1.05 * device.peak_flops) return "a peak as high as its structure's";
  return {};
}

std::vector<LayerTime> times_on(const Device& device, std::span<const Layer> layers, bool eager) {
  const ArchetypeModel* model = model_of(device.archetype);
  check(model != nullptr, "times_on: a device that has a model");
  static LayersKnown known;
  const auto mapped = known.of(device, layers, eager, model->mapped);
  return (*mapped)({need(device, "clock_mhz") * mega, device.dram_bytes_per_s});
}

std::vector<std::string> assumptions_of(const Device& device) {
  const ArchetypeModel* model = model_of(device.archetype);
  return model ? model->assumptions : std::vector<std::string>();
}

}  // namespace sdip
