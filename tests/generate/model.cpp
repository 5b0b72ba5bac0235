// A model of a seed.
#include "tests/generate/model.h"

#include "core/onnx/import.h"
#include "tests/generate/mutate.h"
#include "tests/generate/rows.h"

namespace sdip::generate {
namespace {

/// The opsets that exporters write come more often.
std::int64_t drawn_opset(Draw& draw) {
  return draw.one_in(2) ? draw.between(least_opset, most_opset)
                        : draw.of(std::vector<std::int64_t>{11, 13, 14, 16, 17, 17, 18, 20, 21, 23, most_opset});
}

}  // namespace

Generated extended(Making& m, std::int64_t nodes) {
  bool refused = false;
  try {
    const std::size_t end = m.drawn() + static_cast<std::size_t>(nodes);
    while (m.drawn() < end) add_drawn_node(m);
  } catch (const Refused&) {
    refused = true;
  }
  return m.finish(refused);
}

Generated drawn_model(std::uint64_t seed) {
  Draw first(seed);
  if (seed % 6 == 0)
    if (auto mutated = mutated_model(seed)) return std::move(*mutated);
  Making m(seed + (std::uint64_t{1} << 40), drawn_opset(first));
  m.zeros = m.draw.one_in(12);
  m.symbolic = m.draw.one_in(4);
  return extended(m, m.draw.between(5, m.draw.one_in(4) ? 24 : 12));
}

}  // namespace sdip::generate
