// The rows that a search varies.
#include "core/explore/search/rows.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/explore/search/search.h"

namespace sdip {
namespace {

constexpr std::string_view lanes = "1,2,4,5,8,10,16,20,32,40,64,80,128,160,256,320";
constexpr std::string_view ports = "256:65536:1";
constexpr std::string_view capacities = "65536:67108864:2";
constexpr std::string_view own_capacities = "0,65536,131072,262144,524288,1048576,2097152,4194304,8388608";
constexpr std::string_view own_ports = "0,256,512,1024,2048,4096,8192";
constexpr std::string_view own_lanes = "0,1,2,4,8,16,32,64";
constexpr std::string_view own_vector_lanes = "0,4,8,16,32,64,128,256";

constexpr SearchedRow table[] = {
    {"cores", "1,2,3,4,5,6,7,8,10,12,14,16,18,20,24,28,32,40,48,64"},
    {"core_clock_mhz", "100,150,200,300,400,500,600,700,800,900,1000,1200,1400,1600,1800,2000,2500,3000"},
    {"pipeline_stages", "1:32:2"},
    {"dies", "1:8:1"},
    {"die_link_bits", "256:16384:1"},
    {"conv_lanes_in", lanes},
    {"conv_lanes_out", lanes},
    {"conv_lanes_pixel", "1:256:1"},
    {"linear_lanes_m", "1:256:1"},
    {"linear_lanes_n", lanes},
    {"linear_lanes_k", lanes},
    {"matmul_lanes_m", "1:256:1"},
    {"matmul_lanes_n", lanes},
    {"matmul_lanes_k", lanes},
    {"vector_lanes", "4:4096:1"},
    {"softmax_lanes", "4:4096:1"},
    {"norm_lanes", "4:4096:1"},
    {"transpose_lanes", "4:1024:1"},
    {"dataflow", "all"},
    {"accumulator_folds", "0,1,4,16,64,256,1024"},
    {"weight_registers", "0,1,2"},
    {"weight_format", "fp16,bf16,fp8_e4m3,fp8_e5m2,int8"},
    {"activation_format", "fp16,bf16,fp8_e4m3,fp8_e5m2,int8"},
    {"accumulator_format", "fp32,fp16,bf16,int32"},
    {"psram_bytes", "65536:536870912:2"},
    {"psram_port_bits", ports},
    {"dsram_bytes", "16384:67108864:2"},
    {"dsram_port_bits", ports},
    {"stackram_bytes", capacities},
    {"stackram_port_bits", ports},
    {"imem_bytes", "4096:1048576:1"},
    {"sram_banks", "1:64:1"},
    {"weight_buffering", "all"},
    {"tile_buffering", "all"},
    {"dma_port", "all"},
    {"dram_kind", "all"},
    {"dram_channels", "1:64:2"},
    {"mac_sharing", "all"},
    {"activation_memory", "all"},
    {"stack_discipline", "all"},
    {"operator_dsram", "all"},
    {"decoder_dram_share", "0.02,0.05,0.1,0.15,0.2,0.3,0.4,0.5"},
    {"text_encoder_dsram_bytes", own_capacities},
    {"text_encoder_stackram_bytes", own_capacities},
    {"text_encoder_psram_bytes", own_capacities},
    {"text_encoder_dsram_port_bits", own_ports},
    {"text_encoder_psram_port_bits", own_ports},
    {"text_encoder_linear_lanes_m", own_lanes},
    {"text_encoder_linear_lanes_n", own_lanes},
    {"text_encoder_linear_lanes_k", own_lanes},
    {"text_encoder_matmul_lanes_m", own_lanes},
    {"text_encoder_matmul_lanes_n", own_lanes},
    {"text_encoder_matmul_lanes_k", own_lanes},
    {"text_encoder_vector_lanes", own_vector_lanes},
    {"vae_decoder_dsram_bytes", own_capacities},
    {"vae_decoder_stackram_bytes", own_capacities},
    {"vae_decoder_psram_bytes", own_capacities},
    {"vae_decoder_dsram_port_bits", own_ports},
    {"vae_decoder_psram_port_bits", own_ports},
    {"vae_decoder_conv_lanes_in", own_lanes},
    {"vae_decoder_conv_lanes_out", own_lanes},
    {"vae_decoder_conv_lanes_pixel", own_lanes},
    {"vae_decoder_linear_lanes_m", own_lanes},
    {"vae_decoder_linear_lanes_n", own_lanes},
    {"vae_decoder_linear_lanes_k", own_lanes},
    {"vae_decoder_matmul_lanes_m", own_lanes},
    {"vae_decoder_matmul_lanes_n", own_lanes},
    {"vae_decoder_matmul_lanes_k", own_lanes},
    {"vae_decoder_vector_lanes", own_vector_lanes},
    {"vae_decoder_norm_lanes", own_vector_lanes},
    {"weight_storage", "all"},
    {"hard_coded_part", "all"},
    {"psram_pinned_bytes", "0,65536,262144,1048576,4194304,16777216,67108864"},
    {"fusion", "all"},
    {"norm_statistics", "all"},
    {"fused_attention", "all"},
    {"attention_parts", "1,2,4,8"},
    {"split_products", "all"},
    {"part_views", "all"},
    {"fused_chains", "all"},
    {"strips", "all"},
    {"transposition", "all"},
    {"tile_goal", "bytes,balanced"},
    {"skip_handling", "hold,spill"},
    {"schedule", "given,least_live"},
    {"hoisted_context", "all"},
    {"sequencer", "central,distributed"},
    {"program_storage", "all"},
    {"granularity", "operator,tile"},
    {"composable_macs", "all"},
    {"branches", "all"},
    {"memory_hierarchy", "all"},
};

constexpr SearchedRow narrow[] = {
    {"weight_format", "int4,mxfp6,mxfp4,nvfp4,nf4,msfp12"},
    {"activation_format", "int4"},
};

/// n values an octave from least on, as far as most.
std::vector<std::int64_t> geometric(std::int64_t least, std::int64_t most, std::int64_t per_octave) {
  std::vector<std::int64_t> values;
  for (std::int64_t octave = least; octave <= most; octave *= 2)
    for (std::int64_t part = 0; part < per_octave; ++part) {
      const std::int64_t value = octave + octave * part / per_octave;
      if (value <= most && (values.empty() || values.back() < value)) values.push_back(value);
    }
  return values;
}

/// The text of the first rule that a machine breaks once its links are followed; "" where it keeps all.
std::string broken_rule(Machine& machine, std::span<const Link> links) {
  try {
    follow(machine, links);
    check_machine(machine);
  } catch (const Error& error) {
    return error.where + ": " + error.what();
  }
  return "";
}

/// A single change that keeps all rules; or else one of a row that the broken rule names, which then breaks another
/// than those before.
std::optional<Machine> stepped(const Machine& machine, std::span<const Axis> axes, std::span<const Link> links,
                               const std::string& rule, const std::set<std::string>& before) {
  std::optional<Machine> other;
  for (const Axis& axis : axes) {
    if (axis.when) continue;
    const bool named = rule.find(axis.row->name) != std::string::npos;
    for (const std::int64_t value : axis.values) {
      Machine changed = machine;
      axis.row->write(changed, value);
      const std::string broken = broken_rule(changed, links);
      if (broken.empty()) return changed;
      if (named && !other && !before.contains(broken)) other = changed;
    }
  }
  return other;
}

/// The values of a row that is searched where nothing is asked, the base's among them; none of other rows.
std::vector<std::int64_t> usual_values(const ParameterRow& row, const Machine& base, bool narrow_too) {
  const auto listed = std::ranges::find(table, row.name, &SearchedRow::name);
  if (listed == std::end(table)) return {};
  std::vector<std::int64_t> values = searched_values(row, listed->values);
  values.push_back(row.read(base));
  const auto also = std::ranges::find(narrow, row.name, &SearchedRow::name);
  if (narrow_too && also != std::end(narrow))
    for (const std::int64_t value : searched_values(row, also->values)) values.push_back(value);
  return values;
}

}  // namespace

std::span<const SearchedRow> searched_rows() { return table; }
std::span<const SearchedRow> narrow_formats() { return narrow; }

std::string searched_text(const SearchedRow& row, bool narrowly) {
  std::string text(row.values);
  const auto added = std::ranges::find(narrow, row.name, &SearchedRow::name);
  if (narrowly && added != std::end(narrow)) text += "," + std::string(added->values);
  return text;
}

std::vector<std::int64_t> searched_values(const ParameterRow& row, std::string_view text) {
  std::vector<std::int64_t> values;
  if (text == "all") {
    for (std::int64_t value = row.least; value <= row.most; ++value) values.push_back(value);
    return values;
  }
  if (const auto range = split(text, ':'); range.size() == 3) {
    std::int64_t numbers[3] = {};
    for (std::size_t k = 0; k < 3; ++k) numbers[k] = whole_number(range[k]).value_or(0);
    check(numbers[0] > 0 && numbers[2] > 0, "searched_values: a range begins above 0");
    return geometric(numbers[0], numbers[1], numbers[2]);
  }
  for (const std::string_view one : split(text, ','))
    values.push_back(parse_value(row, one, std::string(row.name)));
  return values;
}

std::vector<Axis> searched_axes(const Machine& base, std::span<const std::string_view> fixed,
                                std::span<const Axis> asked, bool narrow_too) {
  std::vector<Axis> axes;
  for (const std::span<const ParameterRow> rows : {parameters(), technology_parameters()})
    for (const ParameterRow& row : rows) {
      if (std::ranges::find(fixed, row.name) != fixed.end()) continue;
      const auto own = std::ranges::find(asked, row.name, [](const Axis& one) { return one.row->name; });
      if (own != asked.end() && own->when) continue;
      Axis axis{&row, own != asked.end() ? own->values : usual_values(row, base, narrow_too)};
      std::ranges::sort(axis.values);
      axis.values.erase(std::unique(axis.values.begin(), axis.values.end()), axis.values.end());
      if (axis.values.size() > 1) axes.push_back(std::move(axis));
    }
  for (const Axis& axis : asked) {
    if (!axis.when) continue;
    axes.push_back(axis);
    std::ranges::sort(axes.back().values);
  }
  return axes;
}

Machine mended(const Machine& base, std::span<const Axis> axes, std::span<const Link> links) {
  std::set<std::string> broken;
  Machine machine = base;
  for (std::string rule = broken_rule(machine, links); !rule.empty(); rule = broken_rule(machine, links)) {
    broken.insert(rule);
    const std::optional<Machine> next = stepped(machine, axes, links, rule, broken);
    if (!next) check_machine_in({base, {}, {links.begin(), links.end()}}, base);
    machine = *next;
  }
  return machine;
}

}  // namespace sdip
