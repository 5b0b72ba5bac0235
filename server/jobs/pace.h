// How fast a sweep goes, and how long it still takes as far as what was seen of it allows to say. Internal to its
// room.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sdip {

/// How far the sweep that runs now has come since it was (re)started.
struct Pace {
  std::int64_t done = 0;  // stored in all
  double points_per_second = 0;
  std::optional<double> eta_s = {};  // as of the last batch; none where nobody can tell
};

/// Measures from `seconds` of any clock on, with `done` points of `total` there already.
class PaceMeter {
 public:
  PaceMeter(std::int64_t done, std::int64_t total, double seconds) : total_(total), seen_{{seconds, done}} {}

  /// After a batch of `points` that ended at `seconds`. Time left goes by the slower of the rates of the whole time
  /// and of its later half, and is not told before 5 batches and 3 s, nor where one rate is more than twice the
  /// other: the programs of some points take longer to compile, which no count of points foretells. Example: 10
  /// points each second from 0 to 100 of 200: 10 s.
  Pace after(std::int64_t points, double seconds);

 private:
  struct Seen {
    double seconds;
    std::int64_t done;
  };

  std::int64_t total_;
  std::vector<Seen> seen_;  // the first, the last, and some between: every second one goes when there are many
};

}  // namespace sdip
