// The transfers of an instruction's tile operations.
#include "core/exec/clock/transfers.h"

#include <utility>

namespace sdip::exec {

void TransferLog::begin_instruction() {
  now_.reset();
  begun_ = false;
  done_ = {};
  weight_elements_ = made_elements_ = 0;
  weights_there_ = false;
  for (auto& stream : bits_)
    for (auto& bits : stream) bits = 0;
}

void TransferLog::begin_operation(bool noted) {
  if (begun_) end_operation();
  begun_ = true;
  now_.reset();
  if (!noted) return;
  now_ = done_.operations.size();
  done_.operations.emplace_back();
}

void TransferLog::resume(std::size_t number) {
  end_operation();
  now_ = number;
}

void TransferLog::end_operation() {
  TileTransfers none_open;
  TileTransfers& moved = now_ ? done_.operations.at(*now_) : none_open;
  for (std::size_t s = 0; s < streams; ++s)
    for (std::size_t m = 0; m < throughs; ++m) moved.bits[s][m] += bits_[s][m].exchange(0);
  moved.weight_elements += std::exchange(weight_elements_, 0);
  moved.made_elements += std::exchange(made_elements_, 0);
}

void TransferLog::add(Stream stream, Place place, std::int64_t bits) {
  const Through memory = place == Place::dram       ? Through::dram
                         : place == Place::stackram ? Through::stackram
                                                    : Through::dsram;
  bits_[stream][memory].fetch_add(bits, std::memory_order_relaxed);
}

void TransferLog::add_weights(std::int64_t elements) {
  if (!weights_there_) weight_elements_ += elements;
}

InstructionTransfers TransferLog::end_instruction() {
  end_operation();
  return std::exchange(done_, {});
}

}  // namespace sdip::exec
