// Paces and times left, from the batches of a sweep.
#include "server/jobs/pace.h"

#include <algorithm>

namespace sdip {
namespace {

constexpr std::size_t least_batches = 5, most_seen = 64;
constexpr double least_seconds = 3, steady = 2;

}  // namespace

Pace PaceMeter::after(std::int64_t points, double seconds) {
  const Seen first = seen_.front(), last{seconds, seen_.back().done + points};
  if (seen_.size() == most_seen) {
    std::size_t place = 0;
    std::erase_if(seen_, [&](const Seen&) { return place++ % 2 != 0; });
  }
  seen_.push_back(last);

  const auto rate_since = [&](const Seen& from) {
    return last.seconds > from.seconds ? static_cast<double>(last.done - from.done) / (last.seconds - from.seconds)
                                       : 0;
  };
  Pace pace{last.done, rate_since(first)};
  if (seen_.size() - 1 < least_batches || seconds - first.seconds < least_seconds) return pace;
  const auto middle =
      std::ranges::find_if(seen_, [&](const Seen& s) { return s.seconds >= (first.seconds + seconds) / 2; });
  const auto [slow, fast] = std::minmax({rate_since(first), rate_since(*middle)});
  if (slow > 0 && fast <= steady * slow) pace.eta_s = static_cast<double>(total_ - last.done) / slow;
  return pace;
}

}  // namespace sdip
