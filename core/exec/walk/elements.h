// Which elements of a value, in which order: lines of equal steps, one behind the other.
//
// Example: 0 1 2 3 and 8 10 12 are the lines (begin 0, count 4, step 1) and (8, 3, 2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace sdip::exec {

struct Line {
  std::int64_t begin = 0, count = 0, step = 1;
  std::int64_t last() const { return begin + (count - 1) * step; }
};

class Elements {
 public:
  Elements() = default;
  Elements(std::span<const std::int64_t> numbers) {  // NOLINT: numbers are some
    for (const std::int64_t n : numbers) add({n, 1, 1});
  }
  Elements(const std::vector<std::int64_t>& numbers) : Elements(std::span(numbers)) {}  // NOLINT: as above

  /// 0, 1, ..., count - 1.
  static Elements first(std::int64_t count) { return line({0, count, 1}); }
  static Elements line(Line line) {
    Elements elements;
    elements.add(line);
    return elements;
  }

  /// Appends a line; joined to the last one where it goes on like it.
  void add(Line line) {
    if (line.count <= 0) return;
    count_ += line.count;
    if (!lines_.empty() && joined(lines_.back(), line)) return;
    lines_.push_back(line);
  }
  void add(const Elements& more) {
    for (const Line& line : more.lines_) add(line);
  }

  std::int64_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::span<const Line> lines() const { return lines_; }

  /// Whether all are among 0 to count - 1.
  bool are_below(std::int64_t count) const {
    return std::ranges::all_of(lines_, [&](const Line& line) {
      return std::min(line.begin, line.last()) >= 0 && std::max(line.begin, line.last()) < count;
    });
  }

  /// Calls `visit` with each number, in order.
  template <class Visit>
  void each(Visit visit) const {
    for (const Line& line : lines_)
      for (std::int64_t i = 0; i < line.count; ++i) visit(line.begin + i * line.step);
  }

  /// Calls `visit(number of the block, first in it, count)` for runs of numbers, cut where blocks of `block` end.
  template <class Visit>
  void each_run(std::int64_t block, Visit visit) const {
    for (const Line& line : lines_)
      for (std::int64_t done = 0; done < line.count;) {
        const std::int64_t element = line.begin + done * line.step, in_block = element % block;
        const std::int64_t count = line.step == 1 ? std::min(line.count - done, block - in_block) : 1;
        visit(element / block, in_block, count);
        done += count;
      }
  }

  /// Cuts them into pieces of `size`, the last of what is left.
  std::vector<Elements> pieces(std::int64_t size) const {
    std::vector<Elements> cut(1);
    for (Line line : lines_)
      while (line.count > 0) {
        if (cut.back().size() == size) cut.emplace_back();
        const std::int64_t fit = std::min(line.count, size - cut.back().size());
        cut.back().add({line.begin, fit, line.step});
        line = {line.begin + fit * line.step, line.count - fit, line.step};
      }
    return cut;
  }

  friend bool operator==(const Elements& a, const Elements& b) {
    return a.count_ == b.count_ && std::equal(a.lines_.begin(), a.lines_.end(), b.lines_.begin(), b.lines_.end(),
                                              [](const Line& x, const Line& y) {
                                                return x.begin == y.begin && x.count == y.count &&
                                                       (x.step == y.step || x.count == 1);
                                              });
  }

 private:
  static bool joined(Line& last, const Line& next) {
    const std::int64_t step = last.count > 1 ? last.step : next.count > 1 ? next.step : next.begin - last.begin;
    if (next.begin != last.last() + step || (next.count > 1 && next.step != step)) return false;
    last = {last.begin, last.count + next.count, step};
    return true;
  }

  std::vector<Line> lines_;
  std::int64_t count_ = 0;
};

}  // namespace sdip::exec
