// Figures of the technology table that a machine has of its own. Internal to its room.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace sdip {

/// A row of technology_rows(), and what a user says instead, in the row's unit.
struct OwnFigure {
  std::size_t row;
  double value;
  friend bool operator==(const OwnFigure&, const OwnFigure&) = default;
};

struct OwnTables;  // core/machine/technology.cpp

/// The figures a user fixed; none as a rule, and then copies and comparisons cost nothing. A value: equal when the
/// same rows have the same figures.
class OwnTechnology {
 public:
  /// The machine's own figures, in the order of technology_rows().
  std::span<const OwnFigure> figures() const;
  /// The same with one figure more, or another. Requires a value that parse_value accepts of the row.
  void set(OwnFigure figure);
  bool empty() const { return !tables_; }
  /// The table with these figures in it; null where there are none. Lives as long as this or a copy of it.
  const OwnTables* tables() const { return tables_.get(); }
  friend bool operator==(const OwnTechnology& a, const OwnTechnology& b) {
    return a.tables_ == b.tables_ || same(a, b);
  }

 private:
  static bool same(const OwnTechnology& a, const OwnTechnology& b);
  std::shared_ptr<const OwnTables> tables_;
};

/// A hash that is the same for equal ones, and 0 where there are none.
std::size_t hash_of(const OwnTechnology& own);

}  // namespace sdip
