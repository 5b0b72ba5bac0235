// A model of a seed.
#include "tests/generate/model.h"

#include <algorithm>

#include "core/onnx/import.h"
#include "tests/generate/mutate.h"

namespace sdip::generate {
namespace {

constexpr std::uint64_t mutated_every = 6;

/// The opsets that exporters write come more often; all of them have what is drawn anyhow.
std::int64_t drawn_opset(Draw& draw, const std::vector<std::int64_t>& opsets) {
  static const std::vector<std::int64_t> usual{11, 13, 14, 16, 17, 17, 18, 20, 21, 23, most_opset};
  if (draw.one_in(2)) return draw.of(opsets);
  const std::int64_t opset = draw.of(usual);
  return std::ranges::find(opsets, opset) != opsets.end() ? opset : draw.of(opsets);
}

}  // namespace

const Turn* turn_of_seed(std::uint64_t seed) {
  return seed % mutated_every == 0 ? nullptr : &turn_of(seed - seed / mutated_every);
}

Generated extended(Making& m, std::int64_t nodes, const Turn* turn) {
  bool refused = false;
  try {
    const std::size_t begun = m.drawn(), end = begun + static_cast<std::size_t>(nodes);
    const std::size_t at = begun + static_cast<std::size_t>(m.draw.between(0, nodes - 1));
    while (m.drawn() < end) {
      if (turn != nullptr && m.drawn() >= at) {
        add_node_of(m, turn->choice);
        turn = nullptr;
      } else {
        add_drawn_node(m);
      }
    }
    if (turn != nullptr) add_node_of(m, turn->choice);
  } catch (const Refused&) {
    refused = true;
  }
  return m.finish(refused);
}

Generated drawn_model(std::uint64_t seed) {
  const Turn* turn = turn_of_seed(seed);
  if (turn == nullptr) {
    if (auto mutated = mutated_model(seed)) return std::move(*mutated);
    turn = &turn_of(seed);
  }
  Draw first(seed);
  Making m(seed + (std::uint64_t{1} << 40), drawn_opset(first, turn->opsets));
  m.zeros = m.draw.one_in(12);
  m.symbolic = m.draw.one_in(4);
  return extended(m, m.draw.between(5, m.draw.one_in(4) ? 24 : 12), turn);
}

}  // namespace sdip::generate
