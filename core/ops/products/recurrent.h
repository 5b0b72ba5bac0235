// The equations of a recurrent layer, and its arithmetic. Internal to its room.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/ops/use.h"

namespace sdip {

/// RNN, GRU and LSTM of ONNX: gates in its order (i; z r h; i o f c).
struct Recurrence {
  enum class Kind { rnn, gru, lstm } kind = Kind::rnn;
  std::int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool first_reversed = false, batch_first = false, linear_before_reset = false, input_forget = false;
  double clip = 0;  // 0: none
  Shape state() const { return batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden}; }
  std::int64_t gates() const { return kind == Kind::rnn ? 1 : kind == Kind::gru ? 3 : 4; }
};

/// An activation by its name in lower case, with its two parameters.
struct GateActivation {
  std::string name;
  double alpha = 0, beta = 0;
};
double activated(const GateActivation& activation, double x);

/// Values of the inputs in ONNX's layout; empty where absent.
struct RecurrentInputs {
  std::vector<double> x, w, r, bias, lengths, hidden, cell, peepholes;
};

/// Y [steps,directions,batch,hidden] and the last hidden and cell states [directions,batch,hidden]; with
/// batch_first batch stands before all of them.
struct RecurrentOutputs {
  std::vector<double> y, hidden, cell;
};

/// Each sequence by itself, step by step; behind its length Y is 0 and the state stays. `activations` has f, g, h
/// of each direction.
RecurrentOutputs unrolled(const Recurrence& layer, const RecurrentInputs& inputs,
                          const std::vector<std::array<GateActivation, 3>>& activations);

}  // namespace sdip
