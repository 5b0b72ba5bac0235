// Compares what strips moved with what they are charged.
//
// The model charges every strip as one inside the input: a window somewhere inside, with line buffers an equal
// share of all rows. Where rows really are follows here from the parts' windows alone; what is moved must be just
// these, and no more than what is charged; of strips that are inside, just that.
//
// Example: two 3 x 3 convolutions, pad 1, of 9 rows in strips of 3. Charged are 5 rows made by the first and 7 of A
// a strip. Rows 3-5 need rows 2-6 between and 1-7 of A, as many; rows 0-2 need rows 0-3 and 0-4, fewer.
#include "core/exec/clock/comparison.h"
#include "core/exec/clock/port_beats.h"
#include "core/exec/walk/strip_walk.h"
#include "core/exec/walk/windows.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

/// Rows under results of a part, where the input has no edges; none under none.
Extent rows_under(const Part& part, const Extent& rows) {
  const LoopNest& n = part.work.nest;
  if (rows.size() <= 0) return {};
  if (is_nest(part.work.family) || n.out_h <= n.in_h) {
    const InputAxis axis = rows_of(n);
    const Count begin = rows.begin * axis.stride - axis.pad;
    return {begin, begin + (rows.size() - 1) * axis.stride + axis.reach()};
  }
  const Count scale = n.out_h / n.in_h;
  return {rows.begin / scale, (rows.end - 1) / scale + 1};
}

Extent within(const Extent& rows, Count height) {
  return {std::clamp<Count>(rows.begin, 0, height), std::clamp<Count>(rows.end, 0, height)};
}

/// Whether so many rows of the last result are the same share of the rows of each part and of A.
bool shares_equally(const InstructionClass& c, Count strip) {
  const Count height = c.parts.back().work.nest.out_h;
  return std::ranges::all_of(c.parts, [&](const Part& part) {
    const LoopNest& n = part.work.nest;
    const bool in_step = (n.in_h == n.out_h * n.stride_h && n.stride_h <= rows_of(n).reach()) ||
                         (n.out_h > n.in_h && n.out_h % n.in_h == 0);
    return in_step && strip * n.in_h % height == 0 && strip * n.out_h % height == 0;
  });
}

/// Rows of each part's results, and of A, that a strip adds to those that are there.
struct StripPlaces {
  std::vector<Count> had, fresh;  // of A the first, of part i number i + 1; had: up to which row
  bool inside = false, exact = false;

  explicit StripPlaces(const InstructionClass& c) : had(c.parts.size() + 1, 0), fresh(had) {}

  void next(const InstructionClass& c, Extent rows, const StripRows& charged) {
    const bool first = rows.begin == 0, was_inside = inside;
    if (first) had.assign(had.size(), 0);
    exact = c.line_buffers && shares_equally(c, rows.size()) && was_inside && !first;
    inside = true;
    for (std::size_t i = had.size(); i-- > 0;) {
      const Count begin = c.line_buffers ? std::max(rows.begin, had[i]) : rows.begin;
      fresh[i] = std::max<Count>(0, rows.end - begin);
      had[i] = std::max(had[i], rows.end);
      if (i == 0) break;
      const Part& part = c.parts[i - 1];
      const Extent under = rows_under(part, rows);
      rows = within(under, part.work.nest.in_h);
      inside = inside && rows == under && (c.line_buffers || rows.size() == charged.parts[i - 1].under);
    }
    exact = inside && (exact || !c.line_buffers);
  }
};

/// Whether A is the operand that strips are taken of: one that is smaller is held.
bool reads_rows(const Part& part) {
  const Count all = part.work.nest.batch * part.work.nest.in_h * elements_of_row(part);
  return is_nest(part.work.family) || part.read_elements == part.work.row_length || part.read_elements == all;
}

/// Elements of one operation, or of all; `other_bytes` as the clock charges the other operands.
struct Amounts {
  Count a = 0, others = 0, made = 0, other_bytes = 0;
  Amounts& operator+=(const Amounts& o) {
    a += o.a;
    others += o.others;
    made += o.made;
    other_bytes += o.other_bytes;
    return *this;
  }
};

/// Where part i makes `rows(i)` rows and A has `rows_of_a`; operands that are held come in equal parts.
template <class Rows>
Amounts amounts_of(const Comparison& x, const StripStep& step, Count rows_of_a, Rows rows) {
  const InstructionClass& c = x.c;
  const LoopNest& last = c.parts.back().work.nest;
  const Count strips = last.batch * ceil_div(last.out_h, c.mapping.tile_rows);
  Amounts sum;
  if (c.operand_a == Place::dram && step.number == 0) sum.a = rows_of_a * elements_of_row(c.parts[0]);
  for (const StripPiece& piece : step.pieces) {
    const Part& part = c.parts[piece.part];
    const Count elements = rows(piece.part) * part.work.nest.out_w * piece.channels.size();
    sum.made += elements;
    for (const Fetch& f : part.fetches) {
      if (f.place != Place::dram) continue;
      if (f.per_fold) sum.others += elements;
      const Count share = f.per_fold ? elements : ceil_div(f.elements, strips * piece.of_part);
      sum.other_bytes += ceil_div(share * x.activation_bits(), 8);
    }
    const Count second = ceil_div(second_elements(part), strips * piece.of_part);
    sum.other_bytes += ceil_div(second * x.activation_bits(), 8);
  }
  return sum;
}

/// Weights that an operation begins with: for the first strip those that are held, too; of a part that makes rows.
template <class Rows>
Count weights_coming(const InstructionClass& c, const StripStep& step, Count tile_before, Rows rows) {
  Count elements = 0;
  for (const StripPiece& piece : step.pieces) {
    const Part& part = c.parts[piece.part];
    const bool first = step.frame == 0 && step.rows.begin == 0;
    const bool comes = piece.weight_tile < 0 ? first : piece.weight_tile != tile_before;
    if (part.operand_b == Place::psram && comes && rows(piece.part) > 0)
      elements += piece.channels.size() * part.weight_elements_per_channel;
  }
  return elements;
}

/// One operation: rows that it adds, and what it is charged. Returns what it adds.
Amounts required_of_strip(const Comparison& x, const std::vector<Operation>& operations, std::size_t i,
                          const StripStep& step, const StripPlaces& places, bool known) {
  const InstructionClass& c = x.c;
  const TileTransfers& t = x.moved.operations[i];
  const Operation& o = operations[i];
  const Count bits = x.activation_bits(), a = t(Stream::a, Through::dram);
  const std::string of = " in tile operation " + std::to_string(i);
  const StripRows rows = strip_rows(c, step.rows.size());
  const auto makes = [&](std::size_t part) { return places.fresh[part + 1]; };
  const auto charged_makes = [&](std::size_t part) { return rows.parts[part].made; };
  const Amounts own = amounts_of(x, step, places.fresh[0], makes);
  const Amounts most = amounts_of(x, step, rows.loaded, charged_makes);
  const Count tile_before = i == 0 ? no_tile : operations[i - 1].weight_tile;
  if (known) {
    x.require("operand A, bits" + of, a, own.a * bits);
    x.require("elements that parts make" + of, t.made_elements, own.made);
    x.require("weights" + of, t.weight_elements, weights_coming(c, step, tile_before, makes));
  }
  if (known && places.exact) {
    x.require("operand A, bytes" + of, ceil_div(a, 8), o.a_bytes);
    x.require("elements that parts make" + of, t.made_elements, most.made);
  }
  x.require("other operands, bytes that are due" + of, most.other_bytes, o.other_bytes);
  if (!c.line_buffers) {
    x.require_at_most("operand A, bits" + of, a, 8 * o.a_bytes);
    x.require_at_most("elements that parts make" + of, t.made_elements, most.made);
  }
  x.require_at_most("weights" + of, t.weight_elements, weights_coming(c, step, tile_before, charged_makes));
  if (t.weight_elements > 0 && step.pieces.size() == 1)
    x.require("weights" + of, t.weight_elements, o.weight_elements);
  x.require("results, bytes" + of, ceil_div(t(Stream::results, Through::dram), 8), o.out_bytes);
  return own;
}

}  // namespace

void require_strips_charged(const std::vector<Operation>& operations, const Comparison& x) {
  const InstructionClass& c = x.c;
  const bool known = !x.moved.other_windows && reads_rows(c.parts[0]);
  StripPlaces places(c);
  Amounts there;
  Count charged_a = 0, charged_others = 0, charged_made = 0, made = 0;
  std::size_t i = 0;
  for_each_strip_step(c, [&](const StripStep& step) {
    const StripRows rows = strip_rows(c, step.rows.size());
    if (step.number == 0) places.next(c, step.rows, rows);
    there += required_of_strip(x, operations, i, step, places, known);
    charged_a += 8 * operations[i].a_bytes;
    charged_others += 8 * operations[i].other_bytes;
    charged_made += amounts_of(x, step, 0, [&](std::size_t part) { return rows.parts[part].made; }).made;
    made += x.moved.operations[i++].made_elements;
  });
  for (const Part& part : c.parts) {
    for (const Fetch& f : part.fetches)
      if (f.place == Place::dram && !f.per_fold) there.others += f.elements;
    there.others += second_elements(part);
  }
  const Count a = x.total(Stream::a, Through::dram), others = x.total(Stream::others, Through::dram);
  if (known && !x.moved.reads_less)
    x.require("other operands, bits in all", others, there.others * x.activation_bits());
  x.require_at_most("operands, bits in all", a + others, charged_a + charged_others);
  x.require_at_most("operand A, bits in all", a, charged_a);
  x.require_at_most("elements that parts make, in all", made, charged_made);
}

}  // namespace sdip::exec
