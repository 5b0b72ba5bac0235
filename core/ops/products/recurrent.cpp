// Recurrent layers: RNN, GRU, LSTM.
#include "core/ops/products/recurrent.h"

#include <algorithm>

#include "core/base/words.h"
#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

constexpr std::int64_t most_recurrent_size = std::int64_t{1} << 31;  // of any size: products of two stay below 2^63

Recurrence layer_of(const OperatorUse& use) {
  const Shape &x = input(use, 0).shape, &w = input(use, 1).shape, &r = input(use, 2).shape;
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) {
    refuse(use, "shape_mismatch", "input, W and R must have rank 3");
  }
  Recurrence l;
  using Kind = Recurrence::Kind;
  l.kind = use.type == "RNN" ? Kind::rnn : use.type == "GRU" ? Kind::gru : Kind::lstm;
  const std::string direction =
      known_attribute(use, "direction", "forward", {"forward", "reverse", "bidirectional"});
  l.directions = direction == "bidirectional" ? 2 : 1;
  l.first_reversed = direction == "reverse";
  l.batch_first = int_attribute(use, "layout", 0) != 0;
  l.linear_before_reset = int_attribute(use, "linear_before_reset", 0) != 0;
  l.input_forget = int_attribute(use, "input_forget", 0) != 0;
  l.clip = float_attribute(use, "clip", 0);
  l.steps = x[l.batch_first ? 1 : 0];
  l.batch = x[l.batch_first ? 0 : 1];
  l.inputs = x[2];
  l.hidden = int_attribute(use, "hidden_size", r[2]);
  if (std::max({l.steps, l.batch, l.inputs, l.hidden}) > most_recurrent_size || l.hidden < 1) {
    refuse(use, "shape_mismatch", "a size is out of range");
  }
  const std::int64_t rows = l.gates() * l.hidden;
  require_shape(use, 1, {l.directions, rows, l.inputs});
  require_shape(use, 2, {l.directions, rows, l.hidden});
  require_shape(use, 3, {l.directions, 2 * rows});
  require_shape(use, 4, {l.batch});
  require_shape(use, 5, l.state());
  require_shape(use, 6, l.state());
  require_shape(use, 7, {l.directions, 3 * l.hidden});
  return l;
}

/// Parameters of an activation that has them, and their defaults; those without have neither.
struct Known {
  std::string_view name;
  int parameters;
  double alpha, beta;
};
constexpr Known known_activations[] = {
    {"affine", 2, 1, 0},   {"elu", 1, 1, 0},        {"hardsigmoid", 2, 0.2, 0.5}, {"leakyrelu", 1, 0.01, 0},
    {"relu", 0, 0, 0},     {"scaledtanh", 2, 1, 1}, {"sigmoid", 0, 0, 0},         {"softplus", 0, 0, 0},
    {"softsign", 0, 0, 0}, {"tanh", 0, 0, 0},       {"thresholdedrelu", 1, 1, 0},
};

std::vector<std::string> default_names(const Recurrence& l) {
  using Kind = Recurrence::Kind;
  if (l.kind == Kind::rnn) return {"tanh"};
  return l.kind == Kind::gru ? std::vector<std::string>{"sigmoid", "tanh"}
                             : std::vector<std::string>{"sigmoid", "tanh", "tanh"};
}

/// f, g, h of each direction. Values of activation_alpha and activation_beta go, in order, to the functions that
/// take them.
std::vector<std::array<GateActivation, 3>> activations_of(const OperatorUse& use, const Recurrence& l) {
  const std::vector<std::string> defaults = default_names(l);
  const std::size_t each = defaults.size();
  auto names = strings_attribute(use, "activations", {});
  if (names.empty()) {
    for (std::int64_t d = 0; d < l.directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != each * as_size(l.directions)) {
    refuse(use, "unsupported_attribute", fmt::format("activations must be {} a direction", each));
  }
  const auto alphas = floats_attribute(use, "activation_alpha", {}),
             betas = floats_attribute(use, "activation_beta", {});
  std::size_t alpha = 0, beta = 0;
  std::vector<std::array<GateActivation, 3>> all(as_size(l.directions));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = lower(names[i]);
    const auto* known = std::find_if(std::begin(known_activations), std::end(known_activations),
                                     [&](const Known& row) { return row.name == name; });
    if (known == std::end(known_activations)) {
      refuse(use, "unsupported_attribute", "activation '" + names[i] + "' is not known");
    }
    GateActivation& made = all[i / each][i % each];
    made = {name, known->alpha, known->beta};
    if (known->parameters > 0 && alpha < alphas.size()) made.alpha = alphas[alpha++];
    if (known->parameters > 1 && beta < betas.size()) made.beta = betas[beta++];
  }
  return all;
}

std::vector<Operand> infer_recurrent(const OperatorUse& use) {
  const Recurrence l = layer_of(use);
  activations_of(use, l);
  const ElementType type = input(use, 0).type;
  const Shape y = l.batch_first ? Shape{l.batch, l.steps, l.directions, l.hidden}
                                : Shape{l.steps, l.directions, l.batch, l.hidden};
  std::vector<Operand> outputs = {typed(type, y), typed(type, l.state())};
  if (use.type == "LSTM") outputs.push_back(outputs[1]);
  return outputs;
}

/// The products of all steps as one: rows are steps x batch, columns all gates, summed over input and state. A
/// lower bound of time: that a step waits for the one before, that weights are read again for each step when they
/// do not fit, and the gates' activations are not in it.
Work recurrent_work(const OperatorUse& use, std::span<const Operand>) {
  const Recurrence l = layer_of(use);
  Work work;
  work.family = input(use, 1).weight ? Family::linear : Family::matmul;
  work.nest.groups = l.directions;
  work.nest.out_h = work.nest.in_h = element_count({l.steps, l.batch});
  work.nest.out_channels = l.gates() * l.hidden;
  work.nest.in_channels = l.inputs + l.hidden;
  return work;
}

void compute_recurrent(const OperatorUse& use, std::span<Operand> outputs) {
  const Recurrence l = layer_of(use);
  const RecurrentInputs in{doubles_of(use, 0), doubles_of(use, 1), doubles_of(use, 2), doubles_of(use, 3),
                           doubles_of(use, 4), doubles_of(use, 5), doubles_of(use, 6), doubles_of(use, 7)};
  for (double length : in.lengths) {
    if (!(length >= 0 && length <= static_cast<double>(l.steps))) {
      refuse(use, "shape_mismatch", "a sequence is longer than the input or has a negative length");
    }
  }
  const RecurrentOutputs out = unrolled(l, in, activations_of(use, l));
  set_doubles(outputs[0], out.y);
  set_doubles(outputs[1], out.hidden);
  if (outputs.size() > 2) set_doubles(outputs[2], out.cell);
}

constexpr Operator recurrent_operators[] = {
    {"", "GRU", "gru", 3, 6,
     "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset",
     infer_recurrent, recurrent_work, compute_recurrent, "7 14 22"},
    {"", "LSTM", "lstm", 3, 8,
     "activation_alpha activation_beta activations clip direction hidden_size input_forget layout", infer_recurrent,
     recurrent_work, compute_recurrent, "7 14 22"},
    {"", "RNN", "rnn", 3, 6, "activation_alpha activation_beta activations clip direction hidden_size layout",
     infer_recurrent, recurrent_work, compute_recurrent, "7 14 22"},
};

}  // namespace

std::span<const Operator> recurrent_rows() { return recurrent_operators; }

}  // namespace sdip
