// Row-wise tile operations: each fold of each pass; and those that the host computes. Tiles of equal sizes have
// equal folds, which are gone through once.
#include <map>
#include <tuple>

#include "core/exec/clock/port_beats.h"
#include "core/exec/walk/row_walk.h"

namespace sdip::exec {
namespace {

Count row_lanes_of(Family family, const Machine& m) {
  if (family == Family::softmax) return m.softmax_lanes;
  if (family == Family::norm) return m.norm_lanes;
  if (family == Family::transpose) return m.transpose_lanes;
  return m.vector_lanes;
}

/// Elements of each fold of one pass over `rows` of `length`.
std::vector<Count> row_folds(Count rows, Count length, Count lanes) {
  std::vector<Count> folds;
  if (length >= lanes || rows == 1) {
    for (Count r = 0; r < rows; ++r)
      for (const Count f : pieces(length, lanes)) folds.push_back(f);
    return folds;
  }
  for (const Count together : pieces(rows, lanes / length)) folds.push_back(together * length);
  return folds;
}

class RowExpansion {
 public:
  RowExpansion(const InstructionClass& c, const Machine& m, Role role, Family owner)
      : c_(c),
        m_(m),
        role_(role),
        ports_(m, role, owner),
        loops_(row_loops(c.work.rows, c.work.row_length, c.work.passes, c.mapping)),
        writing_(loops_.writing()),
        apart_(loops_.chunked ? c.work.passes : 1) {}

  std::vector<Operation> run() {
    for_each_row_step(loops_,
                      [this](const RowStep& step) { add(step.rows.size(), step.part.size(), step.writes); });
    return std::move(done_);
  }

 private:
  void add(Count rows, Count length, bool last) {
    const auto [entry, fresh] = folded_.try_emplace({rows, length, last});
    if (fresh) fold(rows, length, last, entry->second);
    done_.push_back(entry->second);
  }

  void fold(Count rows, Count length, bool last, Operation& o) {
    const bool micro = m_.granularity == Granularity::micro_operation;
    if (micro) o.commands = std::ssize(micro_operations_of_rows(c_, m_, role_, apart_, last));
    if (host_computes(c_, m_)) return add_on_host(rows, length, last, o);
    const Count bits = bits_of(m_.activation_format), lanes = row_lanes_of(c_.work.family, m_);
    const std::vector<Count> folds = row_folds(rows, length, lanes);
    for (Count pass = 0; pass < c_.work.passes / apart_; ++pass)
      for (std::size_t fold = 0; fold < folds.size(); ++fold)
        o.needs.compute += c_.work.element_cycles;  // every lane of a fold is busy that long
    for (const Fetch& f : c_.fetches) {
      const bool every_pass = f.passes >= apart_;
      if (!every_pass && !last) continue;
      const Count width = f.place == Place::psram ? bits_beside_products(m_) : bits;
      if (f.per_fold) {
        for (Count time = 0; time < (every_pass ? f.passes / apart_ : f.passes); ++time)
          for (const Count fold : folds) ports_.read(f.place, f.pair, fold, width, o.needs);
      } else {
        ports_.read(f.place, f.pair, ceil_div(f.elements, writing_), width, o.needs);
      }
      if (f.place == Place::dram) o.other_bytes += ceil_div(ceil_div(f.elements, writing_) * bits, 8);
    }
    if (last) {
      const Count results = results_of(rows, length);
      const Count fused = ceil_div(results, m_.vector_lanes),
                  sums = c_.statistics_passes * ceil_div(results, m_.norm_lanes);
      if (micro)
        o.needs.compute += c_.fused_operators * fused + sums;
      else
        o.needs.compute = std::max({o.needs.compute, c_.fused_passes * fused, sums});
      write_results(c_, ports_, pieces(results, lanes), written_bits(), o.needs);
      if (c_.to_dram) o.out_bytes = ceil_div(ceil_div(c_.out_elements, writing_) * written_bits(), 8);
    }
    put_stack_in_psram(m_, o.needs);
  }

  /// Operands over the bus, the host's work, results over the bus.
  void add_on_host(Count rows, Count length, bool last, Operation& o) {
    const Count bits = bits_of(m_.activation_format), results = results_of(rows, length);
    Needs in, work, out;
    o.on_host = true;
    for (const Fetch& f : c_.fetches) {
      if (f.passes < apart_ && !last) continue;
      const Count width = f.place == Place::psram ? bits_beside_products(m_) : bits;
      const Count part = f.per_fold ? rows * length : ceil_div(f.elements, writing_);
      for (Count left = part * width; left > 0; left -= m_.host_bus_bits) in.compute += m_.host_access_cycles;
      ports_.read(f.place, f.pair, part, width, in);
      if (f.place == Place::dram) o.other_bytes += ceil_div(ceil_div(f.elements, writing_) * bits, 8);
    }
    Count hundredths = 0;
    for (Count pass = 0; pass < c_.work.passes / apart_; ++pass)
      for (Count element = 0; element < rows * length; ++element)
        hundredths += m_.host_cycles_per_element.hundredths;
    if (last) {
      for (Count more = 0; more < c_.fused_operators + c_.statistics_passes; ++more)
        hundredths += results * m_.host_cycles_per_element.hundredths;
      const Count returned = m_.host_result_bits > 0 ? m_.host_result_bits : written_bits();
      if (c_.to_dsram || c_.to_dram || c_.push)
        for (Count left = results * returned; left > 0; left -= m_.host_bus_bits)
          out.compute += m_.host_access_cycles;
      write_result(c_, ports_, results, written_bits(), out);
      if (c_.to_dram) o.out_bytes = ceil_div(ceil_div(c_.out_elements, writing_) * written_bits(), 8);
    }
    work.compute = ceil_div(hundredths, 100);
    for (Needs step : {in, work, out}) {
      put_stack_in_psram(m_, step);
      o.needs += step;
      o.steps_cycles += step.longest();
    }
  }

  /// Bits of an element of the results; a conversion writes another format than it reads.
  Count written_bits() const { return bits_of(c_.formats ? c_.formats->results : m_.activation_format); }

  Count results_of(Count rows, Count length) const {
    return ceil_div(c_.out_elements * rows * length, c_.work.rows * c_.work.row_length);
  }

  const InstructionClass& c_;
  const Machine& m_;
  const Role role_;
  Ports ports_;
  const RowLoops loops_;
  const Count writing_, apart_;  // operations that write; passes that are operations of their own
  std::map<std::tuple<Count, Count, bool>, Operation> folded_;
  std::vector<Operation> done_;
};

}  // namespace

bool host_computes(const InstructionClass& c, const Machine& m) {
  if (c.compound != Compound::single) return false;
  if (c.work.family == Family::norm) return m.host_operators == HostOperators::softmax_and_norm;
  return c.work.family == Family::softmax && m.host_operators != HostOperators::no_operators;
}

std::vector<Operation> expand_rows(const InstructionClass& c, const Machine& m, Role role, Family owner) {
  return RowExpansion(c, m, role, owner).run();
}

}  // namespace sdip::exec
