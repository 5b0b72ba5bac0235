// The cycles of a mapping on Gemmini, tile by tile.
#include "core/baseline/archetypes/gemmini.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "core/base/words.h"

namespace sdip {
namespace {

constexpr std::int64_t most_gemmini_tiles = 10'000'000;

constexpr std::string_view gemmini_dimensions = "NCKPQRS";

std::int64_t& gemmini_extent(GemminiLayer& layer, char dimension) {
  static constexpr std::int64_t GemminiLayer::*extents[] = {&GemminiLayer::n, &GemminiLayer::c, &GemminiLayer::k,
                                                            &GemminiLayer::p, &GemminiLayer::q, &GemminiLayer::r,
                                                            &GemminiLayer::s};
  return layer.*extents[gemmini_dimensions.find(dimension)];
}

/// A layer's three tensors as rows of bytes in DRAM, of which a tile has a part.
enum GemminiTensor : std::size_t { gemmini_weights, gemmini_inputs, gemmini_results };
constexpr std::array<std::string_view, 3> gemmini_dimensions_of = {"CKRS", "NCPQRS", "NKPQ"};

struct GemminiPart {
  std::int64_t rows = 0;
  std::int64_t bytes = 0, row_bytes = 0;  // of a row: in the tile, in DRAM
  double requests = 0, beats = 0, lines = 0;
  double from_l2 = 0, from_dram = 0;  // cycles
};

/// Requests of a run of so many bytes, none beyond a line, on average over where rows begin.
double gemmini_requests_of(std::int64_t bytes, std::int64_t row_bytes, std::int64_t line) {
  const std::int64_t step = std::gcd(row_bytes, line);
  const auto cut = [&](std::int64_t run) {
    double split = 0;
    for (std::int64_t start = 0; start < line; start += step) split += start + run > line ? 1 : 0;
    return 1 + split * static_cast<double>(step) / static_cast<double>(line);
  };
  const std::int64_t whole = bytes / line, rest = bytes % line;
  if (row_bytes % line == 0) return static_cast<double>(whole + (rest > 0 ? 1 : 0));
  return static_cast<double>(whole) * cut(line) + (rest > 0 ? cut(rest) : 0);
}

/// Lines that a row of the tile touches and no other row of it does.
double gemmini_lines_of(std::int64_t bytes, std::int64_t row_bytes, std::int64_t line) {
  const auto of = [&](std::int64_t b) { return static_cast<double>(b) / static_cast<double>(line); };
  if (bytes >= row_bytes) return of(row_bytes);
  if (row_bytes % line == 0) return std::max(1.0, of(bytes));
  return std::min(of(bytes + (bytes > 1 ? line - 1 : 0)), of(row_bytes));
}

GemminiPart gemmini_part_of(std::int64_t rows, std::int64_t bytes, std::int64_t row_bytes,
                            const GemminiMachine& m) {
  GemminiPart part{.rows = rows, .bytes = bytes, .row_bytes = row_bytes};
  const auto count = static_cast<double>(rows);
  part.requests = count * gemmini_requests_of(bytes, row_bytes, m.request_bytes);
  part.beats = count * static_cast<double>(bytes) / static_cast<double>(m.bus_bytes);
  part.lines = count * gemmini_lines_of(bytes, row_bytes, m.request_bytes);
  part.from_l2 = part.beats + part.requests;
  const double missed = std::min(part.lines, part.requests);
  part.from_dram = missed * std::max(m.miss_cycles, part.beats / part.requests) +
                   (part.requests - missed) * part.from_l2 / part.requests;
  return part;
}

std::array<GemminiPart, 3> gemmini_parts_of(const GemminiLayer& layer, const GemminiLayer& t,
                                            const GemminiMachine& m) {
  const std::int64_t down = (t.p - 1) * layer.stride + t.r, across = (t.q - 1) * layer.stride + t.s;
  return {gemmini_part_of(t.r * t.s * t.c, t.k, layer.k, m), gemmini_part_of(t.n * down * across, t.c, layer.c, m),
          gemmini_part_of(t.n * t.p * t.q, t.k, layer.k, m)};
}

/// Sets of L2 that the first lines of rows fall into.
std::int64_t gemmini_sets_of(const GemminiPart& part, const GemminiMachine& m) {
  const std::int64_t sets = m.l2_bytes / m.request_bytes / m.l2_ways;
  if (part.bytes >= part.row_bytes || part.row_bytes % m.request_bytes != 0) return sets;
  return sets / std::gcd(part.row_bytes / m.request_bytes, sets);
}

/// Whether strided weights overfill their sets, together with what inputs and results have there.
bool gemmini_conflicts(const std::array<GemminiPart, 3>& parts, const GemminiMachine& m) {
  const auto sets = static_cast<double>(gemmini_sets_of(parts[gemmini_weights], m));
  const std::int64_t whole_sets = m.l2_bytes / m.request_bytes / m.l2_ways;
  const auto all_sets = static_cast<double>(whole_sets);
  const double ways =
      (parts[gemmini_weights].lines + parts[gemmini_results].lines) / sets + parts[gemmini_inputs].lines / all_sets;
  return ways > static_cast<double>(m.l2_ways);
}

/// Remembers when each tile was touched, to tell what L2 still holds. Tiles that share lines are one.
class GemminiL2 {
 public:
  using Place = std::array<std::int64_t, 7>;

  explicit GemminiL2(double bytes) : bytes_(bytes) {}

  /// Touches them; whether they were there.
  bool touch(GemminiTensor tensor, const Place& place, double touched_bytes) {
    const auto [entry, fresh] = last_[tensor].try_emplace(place, 0);
    const bool held = !fresh && touched_ - entry->second <= bytes_;
    touched_ += touched_bytes;
    entry->second = touched_;
    return held;
  }

 private:
  double bytes_, touched_ = 0;
  std::array<std::map<Place, double>, 3> last_;
};

/// The place of a tile in the tensor, by the lines that it shares with neighbours.
GemminiL2::Place gemmini_place_in(GemminiTensor tensor, const GemminiL2::Place& tile, const GemminiPart& part,
                                  std::int64_t line) {
  GemminiL2::Place place{};
  for (std::size_t d = 0; d < gemmini_dimensions.size(); ++d) {
    if (gemmini_dimensions_of[tensor].find(gemmini_dimensions[d]) == std::string_view::npos) continue;
    const bool innermost = gemmini_dimensions[d] == (tensor == gemmini_inputs ? 'C' : 'K');
    place[d] = innermost && part.bytes < line ? tile[d] * part.bytes / line : tile[d];
  }
  return place;
}

double gemmini_compute_of(const GemminiLayer& t, const GemminiMachine& m) {
  const std::int64_t blocks = t.r * t.s * ceil_div(t.c, m.side) * ceil_div(t.k, m.side);
  const std::int64_t runs = ceil_div(t.p, m.side);
  const double rows = static_cast<double>(t.p) / static_cast<double>(runs);
  return static_cast<double>(blocks * t.n * t.q * runs) * std::max(rows, m.issue_cycles + m.row_cycles * rows);
}

/// The next tile's place; the innermost loop is last.
void gemmini_step(const GemminiMapping& mapping, std::vector<std::int64_t>& at) {
  for (std::size_t i = at.size(); i-- > 0;) {
    if (++at[i] < mapping.loops[i].count) return;
    at[i] = 0;
  }
}

/// Loops of one dimension at several places are one number, the outer one more significant.
GemminiL2::Place gemmini_tile_at(const GemminiMapping& mapping, const std::vector<std::int64_t>& at) {
  GemminiL2::Place tile{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::int64_t& index = tile[gemmini_dimensions.find(mapping.loops[i].dimension)];
    index = index * mapping.loops[i].count + at[i];
  }
  return tile;
}

std::int64_t gemmini_tiles_of(const GemminiMapping& mapping) {
  std::int64_t tiles = 1;
  for (const GemminiMapping::Loop& loop : mapping.loops) {
    if (loop.count > most_gemmini_tiles / tiles)
      throw Error("mapping_invalid", "mapping", "more than ten million tiles");
    tiles *= loop.count;
  }
  return tiles;
}

/// "K16X": dimension, factor, and X where it is spread over the array.
std::optional<GemminiMapping::Loop> gemmini_factor_of(std::string_view token) {
  if (token.ends_with('X')) token.remove_suffix(1);
  if (token.size() < 2 || gemmini_dimensions.find(token[0]) == std::string_view::npos) return std::nullopt;
  const std::int64_t count = whole_number(token.substr(1)).value_or(0);
  if (count < 1 || count > most_gemmini_tiles) return std::nullopt;
  return GemminiMapping::Loop{.dimension = token[0], .count = count};
}

std::string_view gemmini_next_token(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view token = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return token;
}

}  // namespace

GemminiMapping gemmini_mapping(std::string_view text) {
  const std::string all(text);
  const auto invalid = [&](std::string_view token) {
    return Error("mapping_invalid", all,
                 fmt::format("'{}' is neither a level L3 to L0 in order nor a factor such as K16X", token));
  };
  GemminiMapping mapping;
  int level = 4;
  for (std::string_view token = gemmini_next_token(text); !token.empty(); token = gemmini_next_token(text)) {
    if (token == "-") continue;
    if (token.size() > 3 && token[0] == 'L' && token[2] == '[' && token.back() == ']') {
      if (--level < 0 || token[1] != static_cast<char>('0' + level)) throw invalid(token);
      continue;
    }
    const auto factor = gemmini_factor_of(token);
    if (!factor || level == 4) throw invalid(token);
    std::int64_t& tile = gemmini_extent(mapping.tile, factor->dimension);
    if (level < 3 && factor->count > most_gemmini_tiles / tile) throw invalid(token);
    if (level == 3 && factor->count > 1) mapping.loops.push_back(*factor);
    if (level < 3) tile *= factor->count;
  }
  if (level != 0) throw invalid("");
  return mapping;
}

GemminiCycles gemmini_cycles(const GemminiLayer& layer, const GemminiMapping& mapping,
                             const GemminiMachine& machine) {
  const auto line = static_cast<double>(machine.request_bytes);
  const std::array<GemminiPart, 3> parts = gemmini_parts_of(layer, mapping.tile, machine);
  const bool misses = gemmini_conflicts(parts, machine);
  const double compute = gemmini_compute_of(mapping.tile, machine);
  const double stores = static_cast<double>(parts[gemmini_results].rows * ceil_div(mapping.tile.k, machine.side));
  const double all_results = static_cast<double>(layer.n * layer.p * layer.q) * static_cast<double>(layer.k);
  const double line_write =
      all_results > static_cast<double>(machine.l2_bytes)
          ? std::min(parts[gemmini_results].lines, parts[gemmini_results].requests) * machine.miss_cycles
          : 0;

  GemminiCycles cycles;
  cycles.tiles = gemmini_tiles_of(mapping);
  GemminiL2 l2(static_cast<double>(machine.l2_bytes));
  std::vector<std::int64_t> at(mapping.loops.size(), 0);
  std::optional<GemminiL2::Place> stored;
  double last_store = 0;
  for (std::int64_t n = 0; n < cycles.tiles; ++n, gemmini_step(mapping, at)) {
    const GemminiL2::Place tile = gemmini_tile_at(mapping, at);
    double loads = 0;
    for (const GemminiTensor tensor : {gemmini_weights, gemmini_inputs}) {
      const GemminiPart& part = parts[tensor];
      const bool held =
          l2.touch(tensor, gemmini_place_in(tensor, tile, part, machine.request_bytes), part.lines * line);
      loads += held && !(tensor == gemmini_weights && misses) ? part.from_l2 : part.from_dram;
    }
    GemminiL2::Place whole{};  // sums stay in the accumulators as long as the results are the same ones
    for (std::size_t d = 0; d < whole.size(); ++d)
      if (gemmini_dimensions_of[gemmini_results].find(gemmini_dimensions[d]) != std::string_view::npos)
        whole[d] = tile[d];
    double store = 0, write_back = 0;
    if (stored != whole) {
      stored = whole;
      store = stores;
      const bool held = l2.touch(
          gemmini_results, gemmini_place_in(gemmini_results, tile, parts[gemmini_results], machine.request_bytes),
          parts[gemmini_results].lines * line);
      write_back = held ? 0 : line_write;
      last_store = store + write_back;
    }
    cycles.compute += compute;
    cycles.transfers += loads + store;
    cycles.write_back += write_back;
    const double moved = loads + store;
    cycles.total += n == 0 ? loads + compute
                           : std::max(compute, moved) + write_back +
                                 std::min(compute, moved) / static_cast<double>(machine.scratchpad_banks);
  }
  cycles.total += last_store;
  return cycles;
}

}  // namespace sdip
