// Softmax of rows of 8-bit codes.
//
// A row has at most 256 different numbers, so at most 256 exponentials, quotients and codes of quotients. They are
// made once each, by what makes them of rows of numbers; the sum still has a row's elements one after the other in
// that order (core/exec/numbers/plain_functions.h), so the codes are the same.
//
// Example: codes 2 2 4 in steps of 0.5: the greatest is 4; of code 2 e^(1 - 2) = 0.368, of code 4 1; their
// sum 1.736; results 0.212, 0.212 and 0.576.
#include "core/exec/operators/code_softmax.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "core/base/encode.h"
#include "core/base/in_vectors.h"
#include "core/exec/numbers/formats.h"
#include "core/exec/numbers/plain_functions.h"

namespace sdip::exec {
namespace {

constexpr std::size_t all_codes = 256;
constexpr std::int64_t least_length = 128;  // of a row: below, its elements are fewer than the codes
using Table = std::array<double, all_codes>;

/// The greatest of codes of which `flip` makes signed ones.
template <std::size_t Count>
SDIP_EACH void find_greatest(std::span<const std::int8_t> codes, std::int8_t flip, std::int8_t& greatest) {
  using Codes = SideBySide<std::int8_t, 4 * Count>;
  Codes most = Codes{} + std::int8_t{-128}, x;
  std::size_t i = 0;
  for (; i + 4 * Count <= codes.size(); i += 4 * Count) {
    sdip::load(x, codes.data() + i);
    x = x ^ flip;
    most = x > most ? x : most;
  }
  greatest = -128;
  for (std::size_t lane = 0; lane < 4 * Count; ++lane) greatest = std::max(greatest, most[lane]);
  for (; i < codes.size(); ++i) greatest = std::max(greatest, static_cast<std::int8_t>(codes[i] ^ flip));
}

/// As exponentials_less sums what it makes.
double sum_of(const Table& exponentials, std::span<const std::int8_t> codes) {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  const auto number = [&](std::size_t i) { return exponentials[static_cast<std::uint8_t>(codes[i])]; };
  std::size_t i = 0;
  for (; i + lanes <= codes.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += number(i + lane);
  for (std::size_t lane = 0; i < codes.size(); ++i, ++lane) sums[lane] += number(i);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

struct CodeSoftmax {
  Layout to;
  std::int8_t flip = 0;                         // of unsigned codes, whose order it makes that of signed ones
  Table numbers{};                              // by code
  std::array<Table, all_codes> exponentials{};  // by the greatest code of a row, made when it is met
  std::array<std::once_flag, all_codes> made{};

  const Table& exponentials_below(std::uint8_t greatest) {
    Table& table = exponentials[greatest];
    std::call_once(made[greatest], [&] {
      table = numbers;
      exponentials_less(numbers[greatest], table);
    });
    return table;
  }

  void run(std::span<const std::int8_t> row, std::int8_t* results) {
    std::int8_t most = 0;
    in_vectors(widest_vectors(), [&](auto count) SDIP_LOOP { find_greatest<count>(row, flip, most); });
    const Table& exponentials_of = exponentials_below(static_cast<std::uint8_t>(most ^ flip));
    const double sum = sum_of(exponentials_of, row);
    std::array<float, all_codes> quotients;
    for (std::size_t code = 0; code < all_codes; ++code)
      quotients[code] = static_cast<float>(exponentials_of[code] / sum);
    std::array<std::byte, all_codes> codes;
    encode_run(to.format, to.step, to.infinities, quotients, codes.data());
    for (std::size_t i = 0; i < row.size(); ++i)
      results[i] = std::to_integer<std::int8_t>(codes[static_cast<std::uint8_t>(row[i])]);
  }
};

bool in_integer_codes(const Chip& chip, ValueId v) {
  const NumberFormat format = format_of(chip, v);
  return bits_of(format) == 8 && needs_scale(format) && chip.value(v).operand.type == ElementType::float32;
}

}  // namespace

bool run_softmax_of_codes(Chip& chip, const Operators& operators, std::int64_t rows, std::int64_t length,
                          ValueId result) {
  const ValueId v = operators.main->inputs[0];
  const ValueId root = chip.views.root[v];
  const Mapping& mapping = chip.instruction_class().mapping;
  if (chip.log) return false;  // who wants to know what tiles move is told by what moves them one by one
  if (operators.main->op->type != "Softmax" || !operators.behind.empty() || length < least_length ||
      mapping.tile_channels < length || chip.value(v).kind == ValueKind::weight || !in_integer_codes(chip, v) ||
      !may_write_codes(chip, result))
    return false;
  const auto placed = placed_operand(chip, root);
  if (!placed) return false;
  const auto softmax = std::make_unique<CodeSoftmax>();
  softmax->to = layout_of(chip, result);
  const Layout from = layout_of(chip, root);
  if (needs_zero_point(from.format)) softmax->flip = -128;
  std::array<std::byte, all_codes> codes;
  for (std::size_t code = 0; code < all_codes; ++code) codes[code] = static_cast<std::byte>(code);
  std::array<float, all_codes> numbers;
  decode_run(from.format, from.step, codes.data(), numbers);
  std::ranges::copy(numbers, softmax->numbers.begin());
  const std::int64_t together = std::max<std::int64_t>(1, piece_elements / length);
  for (std::int64_t row = 0; row < rows; row += mapping.tile_rows) {
    ++chip.counts.tile_operations;
    const std::int64_t end = std::min(rows, row + mapping.tile_rows);
    List<CodePart> parts(as_size((end - row + together - 1) / together));
    share_tasks(*chip.team, std::ssize(parts), [&](std::int64_t i) {
      CodePart& part = parts[i];
      const std::int64_t first = row + i * together, count = std::min(together, end - first) * length;
      part.at = Elements::line({first * length, count, 1});
      Buffer<std::int8_t> given(as_size(count));
      read_codes(placed->memory, placed->reading, through_view(chip, v, part.at), given);
      part.codes.resize(given.size());
      const auto size = as_size(length);
      for (std::size_t at = 0; at < given.size(); at += size)
        softmax->run(std::span(given).subspan(at, size), part.codes.data() + at);
    });
    write_codes(chip, parts);
  }
  return true;
}

}  // namespace sdip::exec
