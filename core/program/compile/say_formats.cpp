// pass `say_formats`: layers in formats of their own, and conversions between them.
//
// Worked example, an fp16 machine and "/conv*" activations=int8: x, conv1, Relu, conv2, Softmax. conv1 reads
// Convert(x) in int8; Relu works in int8 as its operand is; conv2 reads its result as it is; Softmax, of which
// nothing is said and which is not elementwise, reads Convert of conv2's result in fp16.
#include <map>

#include "core/base/error.h"
#include "core/machine/scale_groups.h"
#include "core/ops/use.h"
#include "core/program/compile/passes.h"
#include "core/program/compile/weight_products.h"
#include "core/program/form/format_text.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

struct Said {
  std::optional<NumberFormat> weights, activations, accumulators;
  std::int64_t line = 0;  // of the first rule that says anything of activations or accumulators
  std::optional<std::int64_t> density_hundredths{};
};

class Conversions {
 public:
  explicit Conversions(Compilation& c) : c_(c), graph_(*c.graph), kept_(graph_.values.size()) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    // Work is asked of the nodes as they were: a conversion changes no shape.
    for (Node& node : nodes) add(std::move(node));
    link(graph_);
    c_.graph = std::make_shared<const Graph>(std::move(graph_));
  }

 private:
  NumberFormat standard() const { return c_.machine.activation_format; }
  NumberFormat kept(ValueId v) const { return kept_[v].value_or(standard()); }

  Said said_of(const Node& node, Family family) {
    Said said;
    for (std::size_t i = 0; i < c_.format_rules.size(); ++i) {
      const FormatRule& rule = c_.format_rules[i];
      if (!matches(rule, c_.stage, node.name, family)) continue;
      ++c_.formats_met[i];
      if (!said.weights) said.weights = rule.weights;
      if (!said.activations) said.activations = rule.activations;
      if (!said.accumulators) said.accumulators = rule.accumulators;
      if (!said.density_hundredths) said.density_hundredths = checked_density(rule);
      if (said.line == 0 && (rule.activations || rule.accumulators)) said.line = rule.line;
    }
    return said;
  }

  std::optional<std::int64_t> checked_density(const FormatRule& rule) const {
    if (rule.density_hundredths.value_or(100) < 100 && c_.machine.sparsity == Sparsity::dense)
      throw Error("formats_invalid", "line " + std::to_string(rule.line),
                  "a density below 1 saves nothing unless the machine has sparsity=gating or skipping");
    return rule.density_hundredths;
  }

  /// Whether a value is kept in a number format in a memory: floats that are no scalars.
  bool is_kept(ValueId v) const {
    if (v == none) return false;
    const Value& value = graph_.values[v];
    return value.kind != ValueKind::weight && is_floating(value.operand.type) && !is_scalar(value);
  }

  void add(Node node) {
    const Work work = work_of(*c_.graph, node);
    const auto makes = [&](ValueId v) { return v != none && graph_.values[v].kind == ValueKind::activation; };
    if (work.family == Family::constant || std::ranges::none_of(node.outputs, makes)) {
      graph_.nodes.push_back(std::move(node));
      return;
    }
    const auto first = std::ranges::find_if(node.inputs, [&](ValueId v) { return is_kept(v); });
    const NumberFormat read = first == node.inputs.end() ? standard() : kept(*first);
    NumberFormat format = read;
    std::optional<NumberFormat> sums;
    if (!is_view(*c_.graph, node, work, c_.machine)) {
      const Said said = said_of(node, work.family);
      const bool follows = node.op->work == elementwise_work;
      format = said.activations.value_or(follows ? read : standard());
      for (ValueId& input : node.inputs)
        if (is_kept(input) && kept(input) != format) input = converted(input, format);
      if (said.weights && node.op->type != "Gather") give_weights(node, *said.weights);
      if (is_nest(work.family)) sums = sums_of(node, said, format);
      if (is_nest(work.family) && said.density_hundredths) give_density(node, *said.density_hundredths);
    }
    for (const ValueId out : node.outputs) {
      if (is_kept(out) && format != standard()) keep(out, format);
      if (out != none) graph_.values[out].sums = sums;
    }
    graph_.nodes.push_back(std::move(node));
  }

  /// The format in which a product keeps its sums; nothing: the machine's.
  std::optional<NumberFormat> sums_of(const Node& node, const Said& said, NumberFormat read) const {
    const NumberFormat sums = said.accumulators.value_or(c_.machine.accumulator_format);
    if (said.line > 0 && bits_of(sums) < bits_of(read))
      throw Error("formats_invalid", "line " + std::to_string(said.line),
                  "layer '" + node.name + "' reads " + std::string(format_text(read)) + " and keeps its sums in " +
                      std::string(format_text(sums)) + ": expected accumulators of at least as many bits");
    require_groups(node, said, sums);
    return sums == c_.machine.accumulator_format ? std::nullopt : std::optional(sums);
  }

  /// Where weights share scales by groups their product sums floats, and skips nothing.
  void require_groups(const Node& node, const Said& said, NumberFormat sums) const {
    const bool weighted =
        node.inputs.size() > 1 && node.inputs[1] != none && graph_.values[node.inputs[1]].kind == ValueKind::weight;
    const NumberFormat weights = said.weights.value_or(c_.machine.weight_format);
    if (!weighted || scale_group_of(weights, c_.machine.scale_granularity) == 0) return;
    const auto refuse = [&](const std::string& why) {
      throw Error("formats_invalid", said.line > 0 ? "line " + std::to_string(said.line) : std::string(),
                  "layer '" + node.name + "' " + why);
    };
    if (!row_of(sums).floating)
      refuse("has weights with a scale for each group, and keeps its sums in " + std::string(format_text(sums)) +
             ": expected floating accumulators");
    if (c_.machine.accumulator_folds > 0)
      refuse("has weights with a scale for each group: expected accumulator_folds=0");
    if (c_.machine.sparsity == Sparsity::skipping)
      refuse("has weights with a scale for each group: expected sparsity=none or gating");
  }

  void keep(ValueId v, NumberFormat format) {
    kept_[v] = format;
    graph_.values[v].format = format;
  }

  /// A weight that layers share has the format that the first says.
  void give_weights(const Node& node, NumberFormat format) {
    for (const ValueId v : node.inputs) {
      if (v == none) continue;
      Value& value = graph_.values[v];
      if (value.kind == ValueKind::weight && is_floating(value.operand.type) && !value.format &&
          format != c_.machine.weight_format)
        value.format = format;
    }
  }

  /// To what a product multiplies by; likewise of the first.
  void give_density(const Node& node, std::int64_t hundredths) {
    if (node.inputs.size() < 2 || node.inputs[1] == none) return;
    Value& value = graph_.values[node.inputs[1]];
    const bool dense = hundredths == 100 && c_.machine.sparsity == Sparsity::skipping;
    const bool own = dense || hundredths != c_.machine.weight_density.hundredths;
    if (value.kind == ValueKind::weight && !value.density_hundredths && own) value.density_hundredths = hundredths;
  }

  ValueId converted(ValueId v, NumberFormat format) {
    const auto [entry, fresh] = made_.try_emplace({v, format}, static_cast<ValueId>(graph_.values.size()));
    if (!fresh) return entry->second;
    const std::string name = graph_.values[v].name + "/" + std::string(format_text(format));
    append_like(graph_, "Convert", v, name, name);
    kept_.emplace_back();
    if (format != standard()) keep(entry->second, format);
    return entry->second;
  }

  Compilation& c_;
  Graph graph_;
  List<std::optional<NumberFormat>> kept_;  // by value, views too; nothing: as the machine has it
  std::map<std::pair<ValueId, NumberFormat>, ValueId> made_;
};

}  // namespace

void say_formats(Compilation& c) {
  if (!c.format_rules.empty()) Conversions(c).run();
}

Formats formats_of(const Machine& machine) {
  return {machine.weight_format, machine.activation_format, machine.activation_format, std::nullopt};
}

Machine machine_for(const InstructionClass& c, const Machine& machine) {
  Machine own = machine;
  if (!c.formats) return own;
  own.weight_format = c.formats->weights;
  own.activation_format = c.formats->activations;
  own.accumulator_format = c.formats->accumulators.value_or(machine.accumulator_format);
  own.weight_density.hundredths = c.formats->density_hundredths.value_or(machine.weight_density.hundredths);
  if (c.formats->density_hundredths == 100) own.sparsity = Sparsity::dense;
  return own;
}

bool multiplies_weights(const InstructionClass& c) {
  return c.compound == Compound::strips || (is_nest(c.work.family) && c.operand_b == Place::psram);
}

bool multiplies_weights_in_floats(const InstructionClass& c) {
  const auto floating = [](NumberFormat f) { return is_floating(f); };
  return multiplies_weights(c) && c.formats && (floating(c.formats->weights) || floating(c.formats->activations));
}

std::int64_t value_bits(const Value& value, const Machine& machine) {
  return bits_of(value.format.value_or(machine.activation_format));
}

}  // namespace sdip
