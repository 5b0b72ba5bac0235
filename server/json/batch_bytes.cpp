// Fields in order (core/base/bytes.h); docs/formats.md has them.
#include "server/json/batch_bytes.h"

#include <limits>

#include "core/base/bytes.h"
#include "core/base/error.h"

namespace sdip {
namespace {

constexpr std::size_t most_batch_points = 1 << 20, most_reason_bytes = 1 << 20;

}  // namespace

std::string bytes_of_batch(const PointBatch& batch) {
  const auto& [first, feasible, reason, reasons, values] = batch;
  ByteWriter out;
  out.number(first);
  out.size(feasible.size());
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    out.byte(feasible[i]);
    out.count(reason[i]);
  }
  out.size(reasons.size());
  for (const std::string& text : reasons) out.text(text);
  for (const auto& column : values)
    for (std::size_t i = 0; i < column.size(); ++i)
      if (feasible[i] != 0) out.real(column[i]);
  return out.take();
}

PointBatch batch_of_bytes(std::string_view bytes, const std::string& where) {
  try {
    ByteReader in(std::as_bytes(std::span(bytes)));
    PointBatch batch;
    batch.first = in.number(0, std::int64_t{1} << 60);
    batch.feasible.resize(in.size(most_batch_points, 2));
    batch.reason.resize(batch.feasible.size());
    for (std::size_t i = 0; i < batch.feasible.size(); ++i) {
      batch.feasible[i] = in.flag();
      const std::uint64_t reason = in.count();
      if (reason >= most_batch_points) in.refuse("a reason that is none");
      batch.reason[i] = static_cast<std::uint32_t>(reason);
    }
    batch.reasons.resize(in.size(most_batch_points));
    for (std::string& text : batch.reasons) text = in.text(most_reason_bytes);
    for (std::size_t i = 0; i < batch.feasible.size(); ++i)
      if (batch.reason[i] >= batch.reasons.size() ||
          (batch.feasible[i] != 0 && !batch.reasons[batch.reason[i]].empty()))
        in.refuse("a reason that is none");
    for (auto& column : batch.values)
      for (const auto feasible : batch.feasible)
        column.push_back(feasible != 0 ? in.real() : std::numeric_limits<double>::quiet_NaN());
    if (in.left() != 0) in.refuse("more bytes than a batch has");
    return batch;
  } catch (const Error& error) {
    throw Error("evaluation_failed", where, where + ": gave points that are none: " + error.what());
  }
}

}  // namespace sdip
