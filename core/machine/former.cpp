// Parameters under the names of the version before.
#include "core/machine/former.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/machine/dram.h"

namespace sdip {
namespace {

std::int64_t read_bus_bits(const Machine& m) { return 8 * dram_channels(m).wide_bytes(); }

/// Channels as the kind has them where these make up the bus, else one as wide.
void write_bus_bits(Machine& m, std::int64_t bits) {
  m.dram_channel_bits = 0;
  const std::int64_t channel_bits = dram_channels(m).channel_bits;
  const bool whole = bits % channel_bits == 0;
  m.dram_channels = whole ? bits / channel_bits : 1;
  m.dram_channel_bits = whole ? 0 : bits;
}

std::int64_t read_clock_ratio(const Machine& m) {
  return std::max<std::int64_t>(1, 100 * dram_channels(m).rate_mtps / (2 * m.core_clock_mhz));
}

void write_clock_ratio(Machine& m, std::int64_t hundredths) {
  m.dram_rate_mtps = std::max<std::int64_t>(1, 2 * hundredths * m.core_clock_mhz / 100);
}

using Member = std::int64_t Machine::*;

/// Rows of both VAE stages that one row said before; the first is read.
template <Member... members>
constexpr std::int64_t read_vae(const Machine& m) {
  std::int64_t first = -1;
  ((first = first < 0 ? m.*members : first), ...);
  return first;
}
template <Member... members>
constexpr void write_vae(Machine& m, std::int64_t value) {
  ((m.*members = value), ...);
}

constexpr ParameterRow former_row(std::string_view name, ParameterType type, std::string_view group,
                                  std::string_view unit, std::array<std::int64_t, 3> range, std::string_view en,
                                  std::string_view ja, std::int64_t (*read)(const Machine&),
                                  void (*write)(Machine&, std::int64_t)) {
  return {name, type, group, unit, range[0], range[1], range[2], {}, en, ja, read, write};
}

template <Member... members>
constexpr FormerRow of_vae(std::string_view name, std::int64_t most, std::string_view en, std::string_view ja,
                           std::string_view now) {
  return {former_row(name, ParameterType::count, "stages", "lanes", {0, 0, most}, en, ja, read_vae<members...>,
                     write_vae<members...>),
          now, true};
}

constexpr FormerRow table[] = {
    {former_row("dram_bus_bits", ParameterType::count, "dram", "bit", {128, 8, 65536},
                "Width of the DRAM bus, all channels together", "DRAMバス幅(全チャネル)", read_bus_bits,
                write_bus_bits),
     "dram_channels and dram_channel_bits", true},
    {former_row("dram_clock_ratio", ParameterType::decimal, "dram", "", {200, 1, 6400},
                "DRAM clock over core clock; two transfers a clock",
                "コアクロックに対するDRAMクロック比(1クロック2転送)", read_clock_ratio, write_clock_ratio),
     "dram_rate_mtps = 2 x ratio x core_clock_mhz", false},
    of_vae<&Machine::vae_encoder_conv_lanes_in, &Machine::vae_decoder_conv_lanes_in>(
        "vae_conv_lanes_in", 4096, "conv2d lanes over input channels of both VAE stages",
        "VAE両段のconv2d入力チャネル方向レーン数", "vae_encoder_conv_lanes_in and vae_decoder_conv_lanes_in"),
    of_vae<&Machine::vae_encoder_conv_lanes_out, &Machine::vae_decoder_conv_lanes_out>(
        "vae_conv_lanes_out", 4096, "conv2d lanes over output channels of both VAE stages",
        "VAE両段のconv2d出力チャネル方向レーン数", "vae_encoder_conv_lanes_out and vae_decoder_conv_lanes_out"),
    of_vae<&Machine::vae_encoder_conv_lanes_pixel, &Machine::vae_decoder_conv_lanes_pixel>(
        "vae_conv_lanes_pixel", 4096, "conv2d lanes over output pixels of both VAE stages",
        "VAE両段のconv2d出力画素方向レーン数", "vae_encoder_conv_lanes_pixel and vae_decoder_conv_lanes_pixel"),
    of_vae<&Machine::vae_encoder_matmul_lanes_m, &Machine::vae_encoder_linear_lanes_m,
           &Machine::vae_decoder_matmul_lanes_m, &Machine::vae_decoder_linear_lanes_m>(
        "vae_matmul_lanes_m", 4096, "linear and matmul lanes over rows of both VAE stages",
        "VAE両段のlinear・matmulの行方向レーン数",
        "vae_encoder_ and vae_decoder_ linear_lanes_m and matmul_lanes_m"),
    of_vae<&Machine::vae_encoder_matmul_lanes_n, &Machine::vae_encoder_linear_lanes_n,
           &Machine::vae_decoder_matmul_lanes_n, &Machine::vae_decoder_linear_lanes_n>(
        "vae_matmul_lanes_n", 4096, "linear and matmul lanes over columns of both VAE stages",
        "VAE両段のlinear・matmulの列方向レーン数",
        "vae_encoder_ and vae_decoder_ linear_lanes_n and matmul_lanes_n"),
    of_vae<&Machine::vae_encoder_matmul_lanes_k, &Machine::vae_encoder_linear_lanes_k,
           &Machine::vae_decoder_matmul_lanes_k, &Machine::vae_decoder_linear_lanes_k>(
        "vae_matmul_lanes_k", 4096, "linear and matmul lanes over the summed dimension of both VAE stages",
        "VAE両段のlinear・matmulの総和方向レーン数",
        "vae_encoder_ and vae_decoder_ linear_lanes_k and matmul_lanes_k"),
    of_vae<&Machine::vae_encoder_vector_lanes, &Machine::vae_encoder_softmax_lanes,
           &Machine::vae_encoder_norm_lanes, &Machine::vae_encoder_transpose_lanes,
           &Machine::vae_decoder_vector_lanes, &Machine::vae_decoder_softmax_lanes,
           &Machine::vae_decoder_norm_lanes, &Machine::vae_decoder_transpose_lanes>(
        "vae_vector_lanes", 65536,
        "Lanes of elementwise operators, softmax, norm and transposition of both VAE stages",
        "VAE両段の要素ごと・softmax・正規化・転置の各レーン数",
        "vae_encoder_ and vae_decoder_ vector_lanes, softmax_lanes, norm_lanes and transpose_lanes"),
};

bool is_former(const ParameterRow& row) {
  return std::ranges::any_of(table, [&](const FormerRow& former) { return &former.row == &row; });
}

}  // namespace

std::span<const FormerRow> former_parameters() { return table; }

const FormerRow* find_former(std::string_view name) {
  const auto found = std::ranges::find_if(table, [&](const FormerRow& former) { return former.row.name == name; });
  return found == std::end(table) ? nullptr : &*found;
}

std::string former_warning(const ParameterRow& row) {
  const FormerRow* former = find_former(row.name);
  if (former == nullptr) return {};
  return std::string(row.name) + " is a name of the version before and will not be read by the next one: say " +
         std::string(former->now);
}

std::vector<std::string> assign_settings(Machine& machine, std::span<const Setting> settings) {
  std::vector<std::string> warnings;
  for (const bool former : {false, true})
    for (const Setting& setting : settings) {
      if (is_former(*setting.row) != former) continue;
      setting.row->write(machine, setting.value);
      if (former) warnings.push_back(former_warning(*setting.row));
    }
  return warnings;
}

std::vector<Setting> settings_of(std::string_view text) {
  std::vector<Setting> settings;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t equals = one.find('=');
    const std::string name(one.substr(0, equals));
    const ParameterRow* row = find_parameter(name);
    check(row != nullptr, "a parameter of the table");
    settings.push_back({row, parse_value(*row, one.substr(equals + 1), name)});
  }
  return settings;
}

}  // namespace sdip
