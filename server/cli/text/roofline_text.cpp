// The layers of an explanation under their roofs.
#include "server/cli/text/roofline_text.h"

#include <algorithm>
#include <cmath>

#include "server/cli/text/explain_text.h"
#include "server/io/text.h"

namespace sdip {
namespace {

/// Layers of one stage and name of an operator that took as long, made and moved as much.
struct Kind {
  LayerNeeds layer;  // the first of them
  std::int64_t count = 0;
};

std::vector<Kind> kinds_of(const Analysis& analysis, const Explanation& e) {
  const auto mnemonic = [&](const LayerNeeds& layer) -> const std::string& {
    return analysis.application.stages[layer.stage].program.instructions[layer.index].mnemonic;
  };
  std::vector<Kind> kinds;
  for (const LayerNeeds& layer : e.layers) {
    if (layer.lane_macs == 0) continue;
    const auto known = std::ranges::find_if(kinds, [&](const Kind& kind) {
      LayerNeeds in_its_place = layer;
      in_its_place.index = kind.layer.index;
      return in_its_place == kind.layer && mnemonic(layer) == mnemonic(kind.layer);
    });
    Kind& kind = known == kinds.end() ? kinds.emplace_back(Kind{layer}) : *known;
    ++kind.count;
  }
  const auto of_a_frame = [&](const Kind& kind) {
    return kind.count * kind.layer.cycles * e.stages[kind.layer.stage].passes_per_frame;
  };
  std::ranges::stable_sort(kinds, std::ranges::greater{}, of_a_frame);
  kinds.resize(std::min(kinds.size(), most_roofline_rows));
  return kinds;
}

/// A tenth of the roof a mark.
std::string bar_of(double share) {
  const auto marks = static_cast<std::size_t>(std::clamp(std::lround(10 * share), 0L, 10L));
  return std::string(marks, '#') + std::string(10 - marks, '.');
}

std::string rate_text(double rate) {
  return rate >= 1000 ? count_text(std::llround(rate)) : quantity_text(rate, "");
}

}  // namespace

void print_roofline(std::ostream& out, const Analysis& analysis, const Explanation& e, bool colour) {
  const std::vector<Kind> kinds = kinds_of(analysis, e);
  if (kinds.empty()) return;
  bool ahead = false;
  std::vector<TextRow> rows;
  for (const auto& [layer, count] : kinds) {
    const StageExplanation& stage = e.stages[layer.stage];
    const auto macs = static_cast<double>(layer.lane_macs);
    const double rate = macs / static_cast<double>(std::max<std::int64_t>(layer.cycles, 1));
    const double bytes_a_cycle = stage.rate.bytes_per_cycle();
    const double dram = macs / static_cast<double>(layer.dram_bytes) * bytes_a_cycle;  // infinite without bytes
    const auto array = static_cast<double>(layer.array_macs);
    const double roof = std::min(dram, array);
    ahead |= rate > roof;
    const Instruction& instruction = analysis.application.stages[layer.stage].program.instructions[layer.index];
    rows.push_back({middle_cut(stage.name, 16), std::to_string(layer.index), middle_cut(instruction.mnemonic, 14),
                    std::to_string(count),
                    layer.dram_bytes > 0 ? rate_text(macs / static_cast<double>(layer.dram_bytes)) : "no bytes",
                    rate_text(rate), rate_text(roof), dram < array ? "DRAM" : "lanes", share_text(rate / roof),
                    bar_of(rate / roof)});
  }
  print_heading(out, "Roofline: the layers with products that take most of a frame, all active cores", colour);
  print_table(out,
              {{"stage"},
               {"#", Align::right},
               {"operation"},
               {"layers", Align::right},
               {"MACs/B", Align::right},
               {"MACs/cycle", Align::right},
               {"roof", Align::right},
               {"by"},
               {"of roof", Align::right},
               {"0 .. 100 %"}},
              rows, colour);
  if (ahead) out << "  above its roof: bytes of the layer came while others ran\n";
}

}  // namespace sdip
