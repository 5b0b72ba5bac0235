// Products whose partial sums stay in the array for a run of row folds, so that a weight serves all of the run
// (docs/model/work.md#accumulators-and-weight-registers), each formula once. Internal to its room.
//
// Worked example. 5 row folds, 1 channel fold, 3 sum folds, 2 beats a load; accumulators of 4 folds: runs of 4 and
// 1. 2 weight registers: 2 + 3 x max(4, 2) + 3 x max(1, 2) = 20 cycles, 3 x 2 x 2 = 12 beats; 3 registers keep the
// weights of all sum folds: 2 + 3 x max(4, 2) + 3 x 1 = 17 cycles, 6 beats.
#pragma once

#include "core/cost/work/fold.h"
#include "core/cost/work/ports.h"

namespace sdip {

/// How a product's row folds go in runs of accumulator_folds, and how its weights come.
struct Runs {
  Folds rows;  // the folds of a run are its lanes
  bool stay;   // weights of all sum folds of a channel fold: its first run loads them
  /// Row folds of the first run.
  std::int64_t first() const { return rows.full > 0 ? rows.lanes : rows.edge; }
  /// All of them behind the first run.
  std::int64_t behind() const { return rows.full * rows.lanes + rows.edge - first(); }
  /// Runs that load.
  std::int64_t loads() const { return stay ? 1 : rows.count(); }
};
inline Runs runs_of(const Machine& m, std::int64_t row_folds, std::int64_t sum_folds) {
  return {fold(row_folds, m.accumulator_folds), sum_folds <= m.weight_registers};
}

/// A product's channel and sum folds, the latter at each of `kernel` positions, in these runs. Weights of
/// `weight_bits` come through a port of `port_bits`, `pace` cycles a beat; 0: through none, in no time.
template <class Number>
struct HeldProduct {
  const Machine& m;
  Runs runs;
  Folds channels, sum;
  Number kernel;
  std::int64_t element_cycles, weight_bits, port_bits, pace = 1;

  /// Cycles of one product; what the first load of an operation takes before it is apart.
  Number cycles() const {
    Number all(0);
    const auto add = [&](std::int64_t channel_folds, std::int64_t sum_folds, std::int64_t of, std::int64_t by) {
      if (channel_folds > 0 && sum_folds > 0 && of > 0 && by > 0)
        all += Number(channel_folds) * kernel * Number(sum_folds) * over_rows(load(of, by));
    };
    add(channels.full, sum.full, channels.lanes, sum.lanes);
    add(channels.full, 1, channels.lanes, sum.edge);
    add(1, sum.full, channels.edge, sum.lanes);
    add(1, 1, channels.edge, sum.edge);
    return all;
  }

  /// Time of the very first load, beside which nothing runs; with one register each load stands alone.
  Number first_load() const {
    if (m.weight_registers == 1) return Number(0);
    return load(channels.full > 0 ? channels.lanes : channels.edge, sum.full > 0 ? sum.lanes : sum.edge);
  }

 private:
  Number load(std::int64_t of, std::int64_t by) const {
    if (port_bits == 0) return Number(0);
    const Number once = beats<Number>({of, by, weight_bits}, port_bits);
    return pace == 1 ? once : Number(pace) * once;
  }

  /// A channel and sum fold through all runs, each with its load or without.
  Number over_rows(const Number& load) const {
    if (runs.stay) return with_load(runs.first(), load) + worked(runs.behind());
    const Number full = Number(runs.rows.full) * with_load(runs.rows.lanes, load);
    return runs.rows.edge == 0 ? full : full + with_load(runs.rows.edge, load);
  }
  Number with_load(std::int64_t row_folds, const Number& load) const {
    if (m.weight_registers == 1) return worked(row_folds) + load;
    return largest(std::initializer_list<Number>{worked(row_folds), load});
  }
  Number worked(std::int64_t row_folds) const { return Number(row_folds) * Number(element_cycles); }
};

}  // namespace sdip
