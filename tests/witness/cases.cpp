// The validation cases, one row a parameter.
#include "tests/witness/cases.h"

#include <algorithm>

#include "core/cost/work/split_macs.h"

namespace sdip::witness {
namespace {

using Acts = bool (*)(const Machine&, const CompiledStage&);

bool any_class(const CompiledStage& stage, auto&& wanted) {
  return std::ranges::any_of(stage.program.classes, wanted);
}
bool has_family(const CompiledStage& stage, Family family) {
  return any_class(stage, [&](const InstructionClass& c) {
    return c.work.family == family ||
           std::ranges::any_of(c.parts, [&](const Part& p) { return p.work.family == family; });
  });
}

/// Bytes of the largest result of a program.
std::int64_t largest_result(const CompiledStage& s, const Machine& m) {
  std::int64_t largest = 0;
  for (const InstructionClass& c : s.program.classes) largest = std::max(largest, c.out_elements);
  return largest * bits_of(m.activation_format) / 8;
}

/// Weighted products have no lanes where the weight memory makes them.
bool in_memory(const Machine& m, const CompiledStage& s) { return weight_place(m, s.role) == WeightPlace::fefet; }

constexpr Acts convolves = [](const Machine& m, const CompiledStage& s) {
  const bool shared = m.mac_sharing == MacSharing::shared || m.granularity == Granularity::micro_operation;
  return in_memory(m, s) ? shared && has_family(s, Family::matmul) : shared || has_family(s, Family::conv2d);
};
constexpr Acts has_linear = [](const Machine& m, const CompiledStage& s) {
  return m.mac_sharing == MacSharing::separate && m.granularity != Granularity::micro_operation &&
         !in_memory(m, s) && has_family(s, Family::linear);
};
constexpr Acts has_matmul = [](const Machine& m, const CompiledStage& s) {
  return m.mac_sharing == MacSharing::separate && m.granularity != Granularity::micro_operation &&
         has_family(s, Family::matmul);
};
template <Family family>
constexpr Acts on_own_lanes = [](const Machine& m, const CompiledStage& s) {
  return m.granularity != Granularity::micro_operation && has_family(s, family);
};
constexpr Acts several_products = [](const Machine& m, const CompiledStage& s) {
  return m.granularity != Granularity::micro_operation &&
         (has_family(s, Family::linear) || has_family(s, Family::matmul));
};
constexpr Acts integer_weights = [](const Machine& m, const CompiledStage&) {
  return m.accumulator_folds == 0 && !number_formats[static_cast<std::size_t>(m.weight_format)].floating;
};
constexpr Acts has_partials = [](const Machine&, const CompiledStage& s) {
  return any_class(s, [](const InstructionClass& c) { return c.mapping.tile_sums < c.work.nest.in_channels; });
};
constexpr Acts streams_words = [](const Machine& m, const CompiledStage&) {
  return m.program_storage == ProgramStorage::streamed;
};
constexpr Acts streams_weights = [](const Machine& m, const CompiledStage& s) {
  return m.weight_storage != WeightStorage::resident && !weights_in_place(m, s.role);
};
constexpr Acts streams_into_common = [](const Machine& m, const CompiledStage& s) {
  return streams_weights(m, s) && follows_psram_bytes(m, s.role);
};
constexpr Acts not_in_place = [](const Machine& m, const CompiledStage& s) { return !weights_in_place(m, s.role); };
constexpr Acts multiplies_in_memory = [](const Machine& m, const CompiledStage& s) {
  return in_memory(m, s) && (has_family(s, Family::conv2d) || has_family(s, Family::linear));
};
constexpr Acts in_rom = [](const Machine& m, const CompiledStage&) {
  return m.weight_storage == WeightStorage::hard_coded;
};
constexpr Acts in_lockstep = [](const Machine&, const CompiledStage& s) {
  return s.role == Role::network || s.role == Role::core;
};
constexpr Acts is_network = [](const Machine& m, const CompiledStage& s) {
  return s.role == Role::network && m.cores > 1;
};
constexpr Acts can_be_on_dies = [](const Machine& m, const CompiledStage& s) {
  return in_lockstep(m, s) && m.cores > 1;
};
constexpr Acts is_on_dies = [](const Machine& m, const CompiledStage& s) {
  return can_be_on_dies(m, s) && m.dies > 1;
};
constexpr Acts is_step = [](const Machine&, const CompiledStage& s) { return s.role == Role::core; };
constexpr Acts shares_with_encoder = [](const Machine& m, const CompiledStage& s) {
  return s.role == Role::encoder ||
         (s.role == Role::core && m.vae_stage != VaeStage::off_chip && m.mode == Mode::image_to_image);
};
constexpr Acts shares_with_decoder = [](const Machine& m, const CompiledStage& s) {
  return s.role == Role::decoder || (s.role == Role::core && m.vae_stage != VaeStage::off_chip);
};
constexpr Acts step_beside_vae = [](const Machine& m, const CompiledStage& s) {
  return s.role == Role::core && m.vae_stage != VaeStage::off_chip;
};
constexpr Acts vae_or_step = [](const Machine&, const CompiledStage& s) {
  return s.role == Role::core || s.role == Role::encoder || s.role == Role::decoder;
};
/// Rows of a stage's own: it runs on them, and what they are of does something.
template <Role role>
constexpr Acts is_stage = [](const Machine& m, const CompiledStage& s) {
  return s.role == role && (role == Role::text_encoder || m.vae_stage != VaeStage::off_chip);
};
template <Role role, const Acts& too>
constexpr Acts is_stage_and = [](const Machine& m, const CompiledStage& s) {
  return is_stage<role>(m, s) && too(machine_of_stage(m, role), s);
};
template <Family family>
constexpr Acts has_pair_of = [](const Machine& m, const CompiledStage& s) {
  return has_pairs(m) && has_family(s, family) &&
         machine_of_stage(m, s.role).dsram_bytes == m.dsram_bytes;  // else the stage's own size is every pair's
};
constexpr Acts is_spread = [](const Machine&, const CompiledStage& s) {
  return any_class(s, [](const InstructionClass& c) { return c.spread_cores > 1; });
};
constexpr Acts compresses = [](const Machine& m, const CompiledStage& s) {
  return m.weight_compression.hundredths > 100 && !weights_in_place(m, s.role);
};
constexpr Acts skips = [](const Machine& m, const CompiledStage&) { return m.sparsity == Sparsity::skipping; };
/// Products on lanes that keep sums and weights: of weights too, unless a weight memory makes them.
constexpr Acts keeps_sums = [](const Machine& m, const CompiledStage& s) {
  const bool multiplies = has_family(s, Family::matmul) ||
                          (!in_memory(m, s) && (has_family(s, Family::conv2d) || has_family(s, Family::linear)));
  return m.accumulator_folds > 0 && multiplies;
};
constexpr Acts attends = [](const Machine& m, const CompiledStage& s) {
  return m.granularity != Granularity::micro_operation &&
         any_class(s, [](const InstructionClass& c) { return c.compound == Compound::attention; });
};
constexpr Acts splits = [](const Machine& m, const CompiledStage& s) {
  Machine composable = m;
  composable.composable_macs = ComposableMacs::on;
  return any_class(s, [&](const InstructionClass& c) { return products_in_mac(c, composable) > 1; });
};
constexpr Acts thins = [](const Machine& m, const CompiledStage&) {
  return m.sparsity == Sparsity::skipping && m.weight_density.hundredths < 100;
};
bool hosts(const Machine& m, const CompiledStage& s) {
  return any_class(s, [&](const InstructionClass& c) {
    return c.compound == Compound::single &&
           ((c.work.family == Family::softmax && m.host_operators != HostOperators::no_operators) ||
            (c.work.family == Family::norm && m.host_operators == HostOperators::softmax_and_norm));
  });
}
constexpr Acts on_host = hosts;
constexpr Acts uses_host_bus = [](const Machine& m, const CompiledStage& s) {
  return m.host_memory || hosts(m, s);
};
constexpr Acts has_dram = [](const Machine& m, const CompiledStage&) { return !m.host_memory; };
constexpr Acts commanded = [](const Machine& m, const CompiledStage& s) {
  return m.sequencer == Sequencer::host || hosts(m, s);
};
constexpr Acts could_host = [](const Machine&, const CompiledStage& s) {
  return has_family(s, Family::softmax) || has_family(s, Family::norm);
};

/// A crossbar acts where a frame would go from core to core; a writable PSRAM on what is pushed or popped.
constexpr Acts has_stack = [](const Machine& m, const CompiledStage& s) {
  const auto popped = [](const auto& fetches) {
    return std::ranges::any_of(fetches, [](const Fetch& f) { return f.place == Place::stackram; });
  };
  return m.activation_memory == ActivationMemory::separate && any_class(s, [&](const InstructionClass& c) {
           return c.push || c.operand_a == Place::stackram || c.operand_b == Place::stackram || popped(c.fetches);
         });
};

/// A picture of the network does not fit DSRAM; two do.
constexpr Acts tiled = [](const Machine& m, const CompiledStage& s) {
  return largest_result(s, m) > m.dsram_bytes;
};
constexpr Acts has_rungs = [](const Machine& m, const CompiledStage&) {
  return std::max({m.dsram_bytes, m.psram_bytes, m.stackram_bytes}) > 64 << 10;
};
constexpr Acts stacked = [](const Machine& m, const CompiledStage& s) {
  return m.activation_memory == ActivationMemory::separate && m.skip_handling != SkipHandling::spill &&
         largest_result(s, m) <= 2 * m.dsram_bytes && m.stackram_bytes > 0;
};
constexpr auto own_picture = [](Machine& m, Dice&) {
  if (m.image_height_px == 0) m.image_height_px = m.image_width_px = 32;
};

constexpr Proof T = Proof::toggled, C = Proof::compiled;

constexpr auto apart = [](Machine& m, Dice&) {
  m.operator_dsram = OperatorDsram::per_operator;
  m.activation_memory = ActivationMemory::separate;
  m.granularity = Granularity::per_operator;
};

#define STAGE_ROWS(stage, role)                                                                 \
  {stage "_dsram_bytes", C, 2, 60, 512, is_stage<role>},                                        \
      {stage "_stackram_bytes", C, 0, 24, 256, is_stage_and<role, stacked>},                    \
      {stage "_psram_bytes", T, 0, 0, 1, is_stage_and<role, streams_weights>},                  \
      {stage "_dsram_port_bits", T, 1, 40, 8, is_stage<role>},                                  \
      {stage "_stackram_port_bits", T, 1, 40, 8, is_stage_and<role, has_stack>},                \
      {stage "_psram_port_bits", T, 1, 40, 8, is_stage_and<role, not_in_place>},                \
      {stage "_conv_lanes_in", T, 1, 8, 1, is_stage_and<role, convolves>},                      \
      {stage "_conv_lanes_out", T, 1, 8, 1, is_stage_and<role, convolves>},                     \
      {stage "_conv_lanes_pixel", T, 1, 8, 1, is_stage_and<role, convolves>},                   \
      {stage "_linear_lanes_m", T, 1, 8, 1, is_stage_and<role, has_linear>},                    \
      {stage "_linear_lanes_n", T, 1, 8, 1, is_stage_and<role, has_linear>},                    \
      {stage "_linear_lanes_k", T, 1, 8, 1, is_stage_and<role, has_linear>},                    \
      {stage "_matmul_lanes_m", T, 1, 8, 1, is_stage_and<role, has_matmul>},                    \
      {stage "_matmul_lanes_n", T, 1, 8, 1, is_stage_and<role, has_matmul>},                    \
      {stage "_matmul_lanes_k", T, 1, 8, 1, is_stage_and<role, has_matmul>},                    \
      {stage "_vector_lanes", T, 1, 24, 1, is_stage<role>},                                     \
      {stage "_softmax_lanes", T, 1, 24, 1, is_stage_and<role, on_own_lanes<Family::softmax>>}, \
      {stage "_norm_lanes", T, 1, 24, 1, is_stage_and<role, on_own_lanes<Family::norm>>}, {     \
    stage "_transpose_lanes", T, 1, 24, 1, is_stage_and<role, on_own_lanes<Family::transpose>>  \
  }

constexpr ValidationCase rows[] = {
    {"cores", T, 1, 5, 1, in_lockstep},
    {"dies", T, 1, 5, 1, can_be_on_dies},
    {"die_link_bits", T, 8, 300, 1, is_on_dies},
    {"die_link_cycles", T, 1, 60, 1, is_on_dies},
    {"core_clock_mhz", T, 1, 3000, 1, has_dram},
    {"pipeline_stages", T, 1, 20},
    {"conv_lanes_in", T, 1, 8, 1, convolves},
    {"conv_lanes_out", T, 1, 8, 1, convolves},
    {"conv_lanes_pixel", T, 1, 8, 1, convolves},
    {"linear_lanes_m", T, 1, 8, 1, has_linear},
    {"linear_lanes_n", T, 1, 8, 1, has_linear},
    {"linear_lanes_k", T, 1, 8, 1, has_linear},
    {"matmul_lanes_m", T, 1, 8, 1, has_matmul},
    {"matmul_lanes_n", T, 1, 8, 1, has_matmul},
    {"matmul_lanes_k", T, 1, 8, 1, has_matmul},
    {"vector_lanes", T, 1, 24},
    {"softmax_lanes", T, 1, 24, 1, on_own_lanes<Family::softmax>},
    {"norm_lanes", T, 1, 24, 1, on_own_lanes<Family::norm>},
    {"transpose_lanes", T, 1, 24, 1, on_own_lanes<Family::transpose>},
    {"dataflow", T, 0, 0, 1, [](const Machine& m, const CompiledStage&) { return m.accumulator_folds == 0; }},
    {"accumulator_folds", T, 1, 3, 1, keeps_sums},
    {"weight_registers", T, 1, 4, 1, keeps_sums},
    {"weight_format", T},
    {"activation_format", T},
    {"accumulator_format", T, 0, 0, 1, has_partials},
    {"scale_granularity", T, 0, 0, 1, integer_weights},
    {"psram_bytes", T, 0, 0, 1, streams_into_common},
    {"psram_port_bits", T, 1, 40, 8, not_in_place},
    {"dsram_bytes", C, 2, 60, 512},
    {"dsram_port_bits", T, 1, 40, 8},
    {"stackram_bytes", C, 0, 24, 256, stacked},
    {"stackram_port_bits", T, 1, 40, 8},
    {"imem_bytes", T, 0, 0, 1, streams_words},
    {"dma_port", T},
    {"sram_banks", Proof::energy, 1, 64},
    {"weight_buffering", T, 0, 0, 1, streams_weights},
    {"tile_buffering", T},
    {"dram_kind", T, 0, 0, 1, has_dram, [](Machine& m, Dice&) { m.dram_channel_bits = m.dram_rate_mtps = 0; }},
    {"dram_channels", T, 1, 48, 1, has_dram},
    {"dram_channel_bits", T, 1, 16, 8, has_dram},
    {"dram_rate_mtps", T, 100, 16000, 1, has_dram},
    {"dram_channel_mib", Proof::frames, 1, 512},
    {"dram_latency_ns", T, 0, 200, 1, has_dram},
    {"dram_turn_ns", T, 0, 60, 1, has_dram},
    {"dram_burst_bytes", T, 1, 64},
    {"dram_efficiency", T, 30, 100, 1, has_dram},
    {"mac_sharing", T, 0, 0, 1, several_products},
    {"activation_memory", T},
    {"stack_discipline", C, 0, 0, 1, stacked},
    {"operator_dsram", C, 0, 0, 1, nullptr,
     [](Machine& m, Dice&) {
       m.activation_memory = ActivationMemory::separate;
       m.granularity = Granularity::per_operator;
     }},
    {"conv2d_dsram_bytes", C, 2, 60, 512, has_pair_of<Family::conv2d>, apart},
    {"linear_dsram_bytes", C, 1, 24, 64, has_pair_of<Family::linear>},
    {"matmul_dsram_bytes", C, 2, 60, 512, has_pair_of<Family::matmul>},
    {"vector_dsram_bytes", C, 2, 60, 512, has_pair_of<Family::vector>},
    {"softmax_dsram_bytes", C, 1, 24, 64, has_pair_of<Family::softmax>},
    {"norm_dsram_bytes", C, 2, 60, 512, has_pair_of<Family::norm>},
    {"transpose_dsram_bytes", C, 1, 24, 64, has_pair_of<Family::transpose>},
    {"steps", T, 1, 12, 1, is_step},
    {"guidance", C, 0, 0, 1, is_step},
    {"sampler", C, 0, 0, 1, is_step},
    {"mode", T, 0, 0, 1, step_beside_vae},
    {"batch", C, 1, 2},
    {"image_height_px", C, 3, 8, 16, nullptr, own_picture},
    {"image_width_px", C, 3, 8, 16, nullptr, own_picture},
    {"prompt_per_frame", Proof::frames},
    {"hours_a_day", Proof::price, 1, 24},
    {"vae_stage", T, 0, 0, 1, vae_or_step},
    STAGE_ROWS("text_encoder", Role::text_encoder),
    STAGE_ROWS("vae_encoder", Role::encoder),
    STAGE_ROWS("vae_decoder", Role::decoder),
    {"encoder_dram_share", T, 1, 45, 1, shares_with_encoder},
    {"decoder_dram_share", T, 1, 45, 1, shares_with_decoder},
    {"link_bits", T, 1, 600, 1, is_spread},
    {"technology_node", Proof::energy},
    {"sram_floor_plan_factor", Proof::area, 100, 1000},
    {"mac_floor_plan_factor", Proof::area, 100, 2000},
    {"supply_mv", Proof::energy, 600, 900},
    {"weight_storage", T},
    {"hard_coded_part", T, 0, 0, 1, in_rom},
    {"psram_pinned_bytes", T, 0, 0, 1, streams_weights},
    {"fusion", C},
    {"norm_statistics", C, 0, 0, 1, nullptr,
     [](Machine& m, Dice&) {
       m.fusion = Fusion::norm;
       if (m.strips == Strips::off) m.strips = Strips::halo_recompute;
     }},
    {"fused_attention", C},
    {"attention_parts", T, 1, 3, 1, attends},
    {"split_products", C},
    {"part_views", C},
    {"fused_chains", C},
    {"strips", C, 0, 0, 1, tiled},
    {"transposition", C},
    {"tile_search", C, 0, 0, 1, tiled},
    {"tile_goal", C, 0, 0, 1, tiled},
    {"memory_stair", C, 0, 0, 1, has_rungs},
    {"skip_handling", C},
    {"schedule", C},
    {"hoisted_context", C, 0, 0, 1, is_step},
    {"weight_compression", T, 101, 400, 1, not_in_place},
    {"decompressor_bytes_per_cycle", T, 1, 40, 1, compresses},
    {"weight_density", T, 1, 100, 1, skips},
    {"sparsity", T},
    {"sparsity_group", T, 2, 12, 1, thins},
    {"activation_density", Proof::energy, 1, 100},
    {"sequencer", T},
    {"dispatch_cycles", T, 0, 60},
    {"host_command_cycles", T, 0, 90, 1, commanded},
    {"host_operators", T, 0, 0, 1, could_host},
    {"host_bus_bits", T, 8, 200, 1, uses_host_bus},
    {"host_cycles_per_element", T, 1, 500, 1, on_host},
    {"host_access_cycles", T, 1, 30, 1, uses_host_bus},
    {"host_result_bits", T, 1, 40, 1, on_host},
    {"host_memory", T},
    {"program_storage", T, 0, 0, 1, streams_words},
    {"granularity", T},
    {"low_rank", C},
    {"low_rank_share", C, 2, 80, 1, nullptr, [](Machine& m, Dice&) { m.low_rank = LowRank::on; }},
    {"composable_macs", T, 0, 0, 1, splits},
    {"core_weights", C, 0, 0, 1, is_network,
     [](Machine& m, Dice&) {
       m.branches = Branches::serial;
       m.cores = std::max<std::int64_t>(m.cores, 2);
     }},
    {"branches", C, 0, 0, 1, is_network,
     [](Machine& m, Dice&) {
       m.core_weights = CoreWeights::common;
       m.cores = std::max<std::int64_t>(m.cores, 2);
     }},
    {"memory_hierarchy", T, 0, 0, 1, has_stack},
    {"in_memory_weights", T, 0, 0, 1, multiplies_in_memory},
    {"fefet_input_bits", T, 1, 8, 1, multiplies_in_memory},
    {"fefet_columns_per_converter", T, 1, 20, 1, multiplies_in_memory},
};

#undef STAGE_ROWS

}  // namespace

std::string_view proof_text(Proof proof) {
  constexpr std::string_view names[] = {"toggled",   "compiled",    "seconds only", "energy only",
                                        "area only", "frames only", "price only"};
  return names[static_cast<std::size_t>(proof)];
}

std::span<const ValidationCase> validation_cases() { return rows; }

std::int64_t wanted_changes(const ValidationCase& one, std::int64_t pairs) {
  const std::string_view group = find_parameter(one.name)->group;
  const bool of_a_stage = group == "text_encoder" || group == "vae_encoder" || group == "vae_decoder";
  if (one.name == "memory_stair") return 0;            // of memories of more than 64 KiB, which few pairs have
  if (one.name.starts_with("die")) return pairs / 40;  // of cores that share nothing else
  return of_a_stage || (group == "sharing" && one.name.ends_with("_dsram_bytes")) ? pairs / 200 : pairs / 20;
}

const ValidationCase* find_case(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &ValidationCase::name);
  return found == std::end(rows) ? nullptr : found;
}

std::vector<std::string> missing_cases(std::span<const ParameterRow> parameters,
                                       std::span<const ValidationCase> cases) {
  std::vector<std::string> missing;
  for (const ParameterRow& row : parameters) {
    const auto found = std::ranges::find(cases, row.name, &ValidationCase::name);
    if (found == cases.end()) {
      missing.push_back(std::string(row.name) + ": no validation case");
    } else if (row.type == ParameterType::choice && row.choices.size() < 2) {
      missing.push_back(std::string(row.name) + ": nothing to choose from");
    }
  }
  for (const ValidationCase& one : cases)
    if (std::ranges::find(parameters, one.name, &ParameterRow::name) == parameters.end())
      missing.push_back(std::string(one.name) + ": a case without a row");
  return missing;
}

}  // namespace sdip::witness
