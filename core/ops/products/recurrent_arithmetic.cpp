// The steps of RNN, GRU and LSTM as ONNX's formulas say, one sequence at a time.
#include <algorithm>
#include <cmath>

#include "core/ops/products/recurrent.h"

namespace sdip {
namespace {

using Numbers = std::vector<double>;

/// One direction: where its weights begin, and what its gates apply.
struct Direction {
  const Recurrence& layer;
  const double *w, *r, *bias, *peepholes;  // the last two may be null
  const std::array<GateActivation, 3>& activations;
};

double clipped(const Recurrence& layer, double x) {
  return layer.clip > 0 ? std::clamp(x, -layer.clip, layer.clip) : x;
}

/// W x + Wb of all gates.
Numbers from_input(const Direction& d, const double* x) {
  const std::int64_t rows = d.layer.gates() * d.layer.hidden;
  Numbers sums(as_size(rows), 0.0);
  for (std::int64_t row = 0; row < rows; ++row) {
    double sum = d.bias == nullptr ? 0.0 : d.bias[row];
    for (std::int64_t i = 0; i < d.layer.inputs; ++i) sum += d.w[row * d.layer.inputs + i] * x[i];
    sums[as_size(row)] = sum;
  }
  return sums;
}

/// R h + Rb of one gate.
Numbers from_state(const Direction& d, std::int64_t gate, const Numbers& h) {
  const std::int64_t hidden = d.layer.hidden, first = gate * hidden;
  Numbers sums(as_size(hidden), 0.0);
  for (std::int64_t row = 0; row < hidden; ++row) {
    double sum = d.bias == nullptr ? 0.0 : d.bias[d.layer.gates() * hidden + first + row];
    for (std::int64_t i = 0; i < hidden; ++i) sum += d.r[(first + row) * hidden + i] * h[as_size(i)];
    sums[as_size(row)] = sum;
  }
  return sums;
}

void step_rnn(const Direction& d, const double* x, Numbers& h) {
  const Numbers a = from_input(d, x), b = from_state(d, 0, h);
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = activated(d.activations[0], clipped(d.layer, a[i] + b[i]));
}

void step_gru(const Direction& d, const double* x, Numbers& h) {
  const std::size_t n = h.size();
  const Numbers a = from_input(d, x), z = from_state(d, 0, h), r = from_state(d, 1, h);
  Numbers update(n), reset(n), state = h;
  for (std::size_t i = 0; i < n; ++i) {
    update[i] = activated(d.activations[0], clipped(d.layer, a[i] + z[i]));
    reset[i] = activated(d.activations[0], clipped(d.layer, a[n + i] + r[i]));
    if (!d.layer.linear_before_reset) state[i] *= reset[i];
  }
  const Numbers candidate = from_state(d, 2, state);
  for (std::size_t i = 0; i < n; ++i) {
    const double recurrent = d.layer.linear_before_reset ? reset[i] * candidate[i] : candidate[i];
    const double fresh = activated(d.activations[1], clipped(d.layer, a[2 * n + i] + recurrent));
    h[i] = (1 - update[i]) * fresh + update[i] * h[i];
  }
}

void step_lstm(const Direction& d, const double* x, Numbers& h, Numbers& c) {
  const std::size_t n = h.size();
  const Numbers a = from_input(d, x), in = from_state(d, 0, h), out = from_state(d, 1, h),
                forget = from_state(d, 2, h), cell = from_state(d, 3, h);
  const auto peep = [&](std::size_t gate, std::size_t i, double state) {
    return d.peepholes == nullptr ? 0.0 : d.peepholes[gate * n + i] * state;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const double opened = activated(d.activations[0], clipped(d.layer, a[i] + in[i] + peep(0, i, c[i])));
    const double kept =
        d.layer.input_forget
            ? 1 - opened
            : activated(d.activations[0], clipped(d.layer, a[2 * n + i] + forget[i] + peep(2, i, c[i])));
    const double fresh = activated(d.activations[1], clipped(d.layer, a[3 * n + i] + cell[i]));
    c[i] = kept * c[i] + opened * fresh;
    const double shown = activated(d.activations[0], clipped(d.layer, a[n + i] + out[i] + peep(1, i, c[i])));
    h[i] = shown * activated(d.activations[2], c[i]);
  }
}

/// Element of [directions, batch, hidden], or [batch, directions, hidden].
std::int64_t state_place(const Recurrence& l, std::int64_t direction, std::int64_t b) {
  return (l.batch_first ? b * l.directions + direction : direction * l.batch + b) * l.hidden;
}

Numbers state_of(const Recurrence& l, const Numbers& initial, std::int64_t place) {
  if (initial.empty()) return Numbers(as_size(l.hidden), 0.0);
  return Numbers(initial.begin() + place, initial.begin() + place + l.hidden);
}

}  // namespace

double activated(const GateActivation& activation, double x) {
  const std::string& name = activation.name;
  const double alpha = activation.alpha, beta = activation.beta;
  if (name == "sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "tanh") return std::tanh(x);
  if (name == "relu") return std::max(x, 0.0);  // a NaN stays one
  if (name == "affine") return alpha * x + beta;
  if (name == "leakyrelu") return x >= 0 ? x : alpha * x;
  if (name == "thresholdedrelu") return x >= alpha ? x : 0;
  if (name == "scaledtanh") return alpha * std::tanh(beta * x);
  if (name == "hardsigmoid") return std::clamp(alpha * x + beta, 0.0, 1.0);
  if (name == "elu") return x >= 0 ? x : alpha * (std::exp(x) - 1);
  if (name == "softsign") return x / (1 + std::fabs(x));
  return std::log1p(std::exp(x));  // softplus
}

RecurrentOutputs unrolled(const Recurrence& l, const RecurrentInputs& in,
                          const std::vector<std::array<GateActivation, 3>>& activations) {
  const std::int64_t rows = l.gates() * l.hidden;
  RecurrentOutputs out;
  out.y.assign(as_size(element_count({l.steps, l.directions, l.batch, l.hidden})), 0.0);
  out.hidden.assign(as_size(element_count({l.directions, l.batch, l.hidden})), 0.0);
  out.cell = out.hidden;
  for (std::int64_t direction = 0; direction < l.directions; ++direction) {
    const Direction d{l,
                      in.w.data() + direction * rows * l.inputs,
                      in.r.data() + direction * rows * l.hidden,
                      in.bias.empty() ? nullptr : in.bias.data() + direction * 2 * rows,
                      in.peepholes.empty() ? nullptr : in.peepholes.data() + direction * 3 * l.hidden,
                      activations[as_size(direction)]};
    const bool reversed = direction == 1 || l.first_reversed;
    for (std::int64_t b = 0; b < l.batch; ++b) {
      const std::int64_t place = state_place(l, direction, b);
      Numbers h = state_of(l, in.hidden, place), c = state_of(l, in.cell, place);
      const std::int64_t length = in.lengths.empty() ? l.steps : static_cast<std::int64_t>(in.lengths[as_size(b)]);
      for (std::int64_t step = 0; step < length; ++step) {
        const std::int64_t t = reversed ? length - 1 - step : step;
        const double* x = in.x.data() + (l.batch_first ? b * l.steps + t : t * l.batch + b) * l.inputs;
        if (l.kind == Recurrence::Kind::rnn) step_rnn(d, x, h);
        if (l.kind == Recurrence::Kind::gru) step_gru(d, x, h);
        if (l.kind == Recurrence::Kind::lstm) step_lstm(d, x, h, c);
        const std::int64_t row = l.batch_first ? (b * l.steps + t) * l.directions + direction
                                               : (t * l.directions + direction) * l.batch + b;
        std::copy(h.begin(), h.end(), out.y.begin() + row * l.hidden);
      }
      std::copy(h.begin(), h.end(), out.hidden.begin() + place);
      std::copy(c.begin(), c.end(), out.cell.begin() + place);
    }
  }
  return out;
}

}  // namespace sdip
