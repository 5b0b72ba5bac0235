// How far a graph's outputs move when every result in it is rounded otherwise.
#include <algorithm>

#include "core/graph/graph.h"
#include "tests/generate/check.h"

namespace sdip::generate {
namespace {

constexpr int draws = 4;

/// A share of each number more or less, in a narrow type `places` of its half places, since results are rounded
/// again anyhow. A zero has its sign changed, which nothing promises: once all have one, once the other.
void disturb(Tensor& tensor, double share, double places, int number, Draw& draw) {
  if (tensor.type == ElementType::float16) share = places / 2048;
  if (tensor.type == ElementType::bfloat16) share = places / 256;
  for (double& x : tensor.floats)
    x = x == 0 ? (number == 0 || (number > 1 && draw.one_in(2)) ? -0.0 : 0.0) : x * (1 + share * draw.unit());
}

}  // namespace

std::vector<std::vector<double>> sensitivity(const Graph& graph, const std::vector<Tensor>& inputs,
                                             const std::vector<Tensor>& outputs, const StoredTensors& stored,
                                             double share, double places) {
  Draw draw(1);
  int number = 0;
  const auto change = [&](const Node& node, std::size_t, Tensor& made) {
    const Family family = node.op->work != nullptr ? work_of(graph, node).family : Family::vector;
    if (family != Family::view && family != Family::transpose) disturb(made, share, places, number, draw);
  };
  std::vector<std::vector<double>> most = moved_by(graph, inputs, stored, outputs, change, 1);
  for (number = 1; number < draws; ++number) {
    const auto other = moved_by(graph, inputs, stored, outputs, change, 1);
    for (std::size_t i = 0; i < most.size(); ++i)
      std::ranges::transform(most[i], other[i], most[i].begin(), [](double a, double b) { return std::max(a, b); });
  }
  return most;
}

}  // namespace sdip::generate
