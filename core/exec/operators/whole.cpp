// Operators that are computed whole, by their own arithmetic.
#include "core/exec/operators/whole.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/exec/clock/operations.h"
#include "core/exec/numbers/arithmetic.h"
#include "core/exec/operators/streams.h"
#include "core/exec/operators/strip_values.h"
#include "core/exec/walk/row_walk.h"
#include "core/graph/attributes.h"
#include "core/graph/node_arithmetic.h"
#include "core/ops/windows/window.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

std::size_t output_index(const Node& node, ValueId v) {
  const auto found = std::ranges::find(node.outputs, v);
  check(found != node.outputs.end(), "a node makes its instruction's result");
  return as_size(found - node.outputs.begin());
}

/// The result of the main operator as a whole; its other results wait until they are copied.
Tensor result_and_others(Chip& chip, const Node& node, std::vector<Tensor> results, ValueId result) {
  for (std::size_t i = 0; i < results.size() && makes_several(node); ++i)
    if (node.outputs[i] != none && node.outputs[i] != result)
      chip.other_results[node.outputs[i]] = std::move(results[i]);
  return std::move(results[output_index(node, result)]);
}

Tensor main_whole(Chip& chip, const Node& node, const Whole& made, ValueId result) {
  if (const auto waiting = chip.other_results.find(result); waiting != chip.other_results.end())
    return chip.log ? chip.log->computed_whole(), chip.log->reads_less() : void(), waiting->second;
  return result_and_others(chip, node, compute_whole(chip, node, made), result);
}

/// For each element of a node's result, the number of the element of its first operand that it is. The operator
/// itself tells: it is given the numbers as elements, and moves them.
std::vector<std::int64_t> sources_of(Chip& chip, const Node& node, std::vector<std::optional<Tensor>> operands,
                                     ValueId result) {
  const Shape& shape = chip.value(node.inputs[0]).operand.shape;
  Tensor numbers = zero_tensor(ElementType::float64, shape);
  std::iota(numbers.floats.begin(), numbers.floats.end(), 0.0);
  operands[0] = std::move(numbers);
  const Tensor taken = outputs_of(chip.graph, node, operands, chip.options.stop).at(output_index(node, result));
  return {taken.floats.begin(), taken.floats.end()};
}

std::int64_t elements_of(const Chip& chip, ValueId v) { return element_count(chip.value(v).operand.shape); }

bool is_nearest(const Node& node) { return attribute_or<std::string>(node, "mode", "nearest") == "nearest"; }

/// Whether a node is of one of these operators of ONNX.
bool is_one_of(const Node& node, std::initializer_list<std::string_view> types) {
  return node.op->domain.empty() && std::ranges::find(types, node.op->type) != types.end();
}

bool is_resize(const Node& node) { return is_one_of(node, {"Resize", "Upsample"}); }

/// Copies of as many elements as they make, whatever else their operand has.
bool takes_elements(const Chip& chip, const Node& node) {
  if (is_resize(node) && is_nearest(node))
    return elements_of(chip, node.outputs[0]) < elements_of(chip, node.inputs[0]);
  return is_one_of(node, {"Slice", "Split", "Gather", "GatherElements", "GatherND"});
}

/// Copies of what stays of their operand, with something put around it.
bool keeps_elements(const Node& node) { return is_one_of(node, {"Pad", "CenterCropPad"}); }

/// Elements of the first operand that stay, each once. Told by the operator itself: of numbers of elements it keeps
/// those, and puts 0 around them.
std::vector<std::int64_t> elements_that_stay(Chip& chip, const Node& node,
                                             std::vector<std::optional<Tensor>> operands) {
  Tensor numbers = zero_tensor(ElementType::int64, chip.value(node.inputs[0]).operand.shape);
  std::iota(numbers.ints.begin(), numbers.ints.end(), 1);
  operands[0] = std::move(numbers);
  if (node.op->type == "Pad" && operands.size() > 2) operands[2].reset();  // what it puts around
  std::vector<std::int64_t> kept = outputs_of(chip.graph, node, operands, chip.options.stop).at(0).ints;
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  std::erase(kept, 0);
  for (std::int64_t& number : kept) --number;
  return kept;
}

/// Operators whose operands are read once, but are charged what all results look at, one by one.
bool looks_again(const Node& node) {
  if (is_resize(node)) return !is_nearest(node);
  return is_one_of(node, {"DFT", "STFT", "LRN", "GridSample", "RoiAlign", "MaxRoiPool", "AffineGrid"});
}

/// Operators that read all of their operands, but are charged what they take of them.
bool takes_part(const Node& node) { return is_one_of(node, {"Compress", "NegativeLogLikelihoodLoss"}); }

bool pools_windows(const Node& node) { return is_one_of(node, {"MaxPool", "AveragePool", "LpPool"}); }

/// Elements under the windows of results `results` of a pool.
Elements under_windows(const Chip& chip, const Node& node, const Extent& results) {
  const Shape& in = chip.value(node.inputs[0]).operand.shape;
  const NodeUse use = use_of(chip.graph, node);
  const Window window = window_of(use.use, {in.begin() + 2, in.end()}, ints_attribute(use.use, "kernel_shape", {}));
  const std::int64_t plane_in = element_count({in.begin() + 2, in.end()});
  const std::int64_t plane_out = element_count(window.out);
  Elements at;
  std::vector<Tap> taps;
  for (std::int64_t i = results.begin; i < results.end; ++i) {
    std::vector<std::int64_t> position(window.out.size());
    std::int64_t left = i % plane_out;
    for (std::size_t axis = position.size(); axis-- > 0; left /= window.out[axis])
      position[axis] = left % window.out[axis];
    taps_at(window, position, taps);
    if (chip.log && std::ssize(taps) < element_count(window.kernel)) chip.log->reads_less();
    for (const Tap& tap : taps) at.add({i / plane_out * plane_in + tap.input, 1, 1});
  }
  return at;
}

/// Row-wise work whose operands come, and results leave, operation by operation.
struct WholeRows {
  Chip& chip;
  const Operators& operators;
  const Whole& made;
  ValueId result;
  const Node& node = *operators.main;
  const RowLoops loops = row_loops(chip.instruction_class().work.rows, chip.instruction_class().work.row_length,
                                   chip.instruction_class().work.passes, chip.instruction_class().mapping);
  const std::int64_t results = elements_of(chip, result);
  const Work work = work_of(chip.graph, node);
  std::vector<std::optional<Tensor>> operands{};

  bool comes(std::size_t i) const {
    const ValueId v = node.inputs[i];
    if (v == none || is_unread(chip, node, i) || chip.value(v).kind == ValueKind::weight) return false;
    const ValueId root = chip.views.root[v];
    return !made.contains(root) && placed_operand(chip, root).has_value();
  }

  /// Calls `visit` with each operation and its number.
  template <class Visit>
  void each_step(Visit visit) {
    std::size_t number = 0;
    for_each_row_step(loops, [&](const RowStep& step) {
      chip.log->resume(number++);
      visit(step, step.writes ? results_of(loops, step, results) : Extent{});
    });
  }

  /// Notes how often an operand beside the first is read: one that is repeated is charged as often as it is, and
  /// one larger than what is gone through as several passes.
  void note_repeats(std::size_t i, std::int64_t count) {
    const std::int64_t read = work.read_elements.at(i), total = work.rows * work.row_length;
    const std::int64_t charged = total > 0 && read >= total && read % total == 0 ? total : read;
    if (charged > count) chip.log->reads_less();
    if (charged < count) chip.log->reads_more();
  }

  /// An operand as it comes: in equal parts, where all passes read it in each of them.
  void fetch_operand(std::size_t i) {
    const ValueId v = node.inputs[i];
    const Operand& operand = chip.value(v).operand;
    Tensor tensor = zero_tensor(operand.type, operand.shape);
    std::ranges::fill(tensor.floats, std::numeric_limits<double>::quiet_NaN());  // what nothing reads
    List<std::int64_t> sources;
    if (i == 0 && takes_elements(chip, node)) sources = sources_of(chip, node, operands, result);
    const bool windows = i == 0 && pools_windows(node), keeps = i == 0 && keeps_elements(node);
    if (keeps) sources = elements_that_stay(chip, node, operands);
    if (i > 0) note_repeats(i, element_count(operand.shape));
    const bool every_pass = work.read_elements.at(i) >= work.passes * work.rows * work.row_length;
    each_step([&](const RowStep& step, const Extent& part) {
      Elements at;
      if (windows) {
        at = under_windows(chip, node, part);
      } else if (keeps) {
        const Extent share = results_of(loops, step, std::ssize(sources));
        for (std::int64_t e = share.begin; e < share.end; ++e) at.add({sources[e], 1, 1});
      } else if (!sources.empty()) {
        for (std::int64_t e = part.begin; e < part.end; ++e) at.add({sources[e], 1, 1});
      } else if (step.writes || every_pass) {
        const Extent share = results_of(loops, step, element_count(operand.shape));
        at = Elements::line({share.begin, share.size(), 1});
      }
      if (!at.empty()) put_numbers(tensor, at, read_operand(chip, v, at));
    });
    operands[i] = std::move(tensor);
  }

  void run() {
    for_each_row_step(loops, [&](const RowStep&) { begin_operation(chip); });
    chip.log->computed_whole();
    if (looks_again(node)) chip.log->reads_less();
    if (looks_again(node) || takes_part(node)) chip.log->reads_more();
    ++chip.counts.whole_operators;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      operands.emplace_back();
      if (node.inputs[i] == none || comes(i)) continue;
      const Operand& operand = chip.value(node.inputs[i]).operand;
      operands[i] = is_unread(chip, node, i) ? zero_tensor(operand.type, operand.shape)
                                             : whole_operand(chip, made, node.inputs[i]);
    }
    for (std::size_t i = node.inputs.size(); i-- > 0;)  // the first operand last: the others may say what it reads
      if (comes(i)) fetch_operand(i);
    const Tensor whole =
        result_and_others(chip, node, outputs_of(chip.graph, node, operands, chip.options.stop), result);
    each_step([&](const RowStep&, const Extent& part) {
      const Elements at = Elements::line({part.begin, part.size(), 1});
      if (at.empty()) return;
      end_tile(chip, operators, result, at,
               [&](const Elements& piece, std::int64_t) { return picked(whole, piece); });
    });
  }
};

}  // namespace

std::vector<Elements> rowwise_tiles(const InstructionClass& c, std::int64_t elements) {
  const RowLoops loops = row_loops(c.work.rows, c.work.row_length, c.work.passes, c.mapping);
  std::vector<Elements> tiles;
  for_each_row_step(loops, [&](const RowStep& step) {
    const Extent part = step.writes ? results_of(loops, step, elements) : Extent{};
    tiles.push_back(Elements::line({part.begin, part.size(), 1}));
  });
  return tiles;
}

void run_whole_rows(Chip& chip, const Operators& operators, const Whole& made, ValueId result) {
  if (chip.log && !chip.other_results.contains(result)) return WholeRows{chip, operators, made, result}.run();
  const Tensor whole = main_whole(chip, *operators.main, made, result);
  const auto tiles = rowwise_tiles(chip.instruction_class(), element_count(whole.shape));
  for_each_result_tile(chip, operators.behind, tiles, [&](const Elements& at) {
    end_tile(chip, operators, result, at,
             [&](const Elements& piece, std::int64_t) { return picked(whole, piece); });
  });
}

void run_whole(Chip& chip, const Operators& operators, Whole made, ValueId result) {
  for (std::int64_t i = operation_count(chip.instruction_class()); i > 0; --i) begin_operation(chip);
  if (chip.log) chip.log->computed_at_once();
  const Tensor whole = main_whole(chip, *operators.main, made, result);
  const Elements all = Elements::first(element_count(whole.shape));
  const auto tiled = [&](const Node* node) { return is_pointwise(*node) || is_turn(chip, *node); };
  if (std::ranges::all_of(operators.behind, tiled))
    return end_tile(chip, operators, result, all,
                    [&](const Elements& piece, std::int64_t) { return picked(whole, piece); });
  made[result] = whole;
  for (const Node* node : operators.behind) made[node->outputs[0]] = compute_whole(chip, *node, made).at(0);
  const Tensor& last = made.at(chip.instruction().destination);
  write_result(chip, Elements::first(element_count(last.shape)), numbers_of(last));
}

}  // namespace sdip::exec
