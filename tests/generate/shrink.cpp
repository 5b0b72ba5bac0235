// The smallest model and machine that still show a finding.
#include "tests/generate/shrink.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/generate/apart.h"
#include "tests/generate/machines.h"
#include "tests/generate/model.h"

namespace sdip::generate {
namespace {

Outcome outcome_apart(const Shown& shown) {
  Outcome found;
  const Checker checker = [&](std::uint64_t seed, const PhaseObserver& phase) -> Checked {
    Machine machine = shown.machine;
    return {seed, check_model(shown.given, machine, seed, phase), {}};
  };
  check_apart(shown.seed, 1, 1, checker, [&](const Checked& checked) { found = checked.outcome; });
  return found;
}

/// Without what reaches no output.
void prune(onnx::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  graph.clear_value_info();
  std::set<std::string> used;
  for (const auto& output : graph.output()) used.insert(output.name());
  for (int i = graph.node_size(); i-- > 0;) {
    const auto& node = graph.node(i);
    if (std::none_of(node.output().begin(), node.output().end(), [&](const auto& o) { return used.contains(o); })) {
      graph.mutable_node()->DeleteSubrange(i, 1);
      continue;
    }
    used.merge(names_read(node));
  }
  for (int i = graph.input_size(); i-- > 0;)
    if (!used.contains(graph.input(i).name())) graph.mutable_input()->DeleteSubrange(i, 1);
  for (int i = graph.initializer_size(); i-- > 0;)
    if (!used.contains(graph.initializer(i).name())) graph.mutable_initializer()->DeleteSubrange(i, 1);
}

/// An output that a node makes becomes an input.
void give(Generated& given, const std::string& name) {
  const auto known = given.values.find(name);
  auto& graph = *given.model.mutable_graph();
  if (name.empty() || known == given.values.end()) return;
  if (known->second.value) {
    *graph.add_initializer() = *known->second.value;
    graph.mutable_initializer(graph.initializer_size() - 1)->set_name(name);
  } else {
    describe(*graph.add_input(), known->second);
  }
}

/// Each change that makes the model smaller; false where there is none of that number any more.
using Change = bool (*)(Shown&, int);

bool one_output(Shown& s, int i) {
  auto& graph = *s.given.model.mutable_graph();
  if (i >= graph.output_size() || graph.output_size() == 1) return false;
  const auto kept = graph.output(i);
  graph.clear_output();
  *graph.add_output() = kept;
  return true;
}

bool less_output(Shown& s, int i) {
  auto& graph = *s.given.model.mutable_graph();
  if (i >= graph.output_size() || graph.output_size() == 1) return false;
  graph.mutable_output()->DeleteSubrange(i, 1);
  return true;
}

/// The node goes, and what it made is an input.
bool without_node(Shown& s, int i) {
  auto& graph = *s.given.model.mutable_graph();
  if (i >= graph.node_size() || graph.node_size() == 1) return false;
  const auto node = graph.node(i);
  graph.mutable_node()->DeleteSubrange(i, 1);
  for (int o = graph.output_size(); o-- > 0;)
    if (std::ranges::find(node.output(), graph.output(o).name()) != node.output().end())
      graph.mutable_output()->DeleteSubrange(o, 1);
  for (const std::string& name : node.output()) give(s.given, name);
  return graph.output_size() > 0;
}

/// What the node makes is the output, and all behind it goes.
bool ends_there(Shown& s, int i) {
  auto& graph = *s.given.model.mutable_graph();
  if (i >= graph.node_size()) return false;
  if (i + 1 == graph.node_size() && graph.output_size() == 1) return false;
  graph.clear_output();
  for (const std::string& name : graph.node(i).output())
    if (!name.empty()) graph.add_output()->set_name(name);
  return graph.output_size() > 0;
}

bool without_attribute(Shown& s, int i) {
  for (auto& node : *s.given.model.mutable_graph()->mutable_node()) {
    if (i < node.attribute_size()) {
      node.mutable_attribute()->DeleteSubrange(i, 1);
      return true;
    }
    i -= node.attribute_size();
  }
  return false;
}

bool plain_dimensions(Shown& s, int i) {
  if (i > 0 || s.given.dims.empty()) return false;
  for (auto& input : *s.given.model.mutable_graph()->mutable_input())
    for (auto& d : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (d.has_dim_param()) d.set_dim_value(s.given.dims.at(d.dim_param()));
  s.given.dims.clear();
  return true;
}

bool plain_machine(Shown& s, int i) {
  if (i > std::ssize(presets())) return false;
  s.machine = i == 0 ? Machine() : presets()[static_cast<std::size_t>(i) - 1].machine;
  return true;
}

bool plain_setting(Shown& s, int i) {
  if (i >= std::ssize(parameters())) return false;
  const ParameterRow& row = parameters()[static_cast<std::size_t>(i)];
  row.write(s.machine, row.standard);
  if (row.name == "image_height_px") s.machine.image_width_px = 0;
  return true;
}

bool is_machine(const Machine& machine) {
  try {
    check_machine(machine);
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

/// Tries each number of a change until none helps; whether one did.
bool try_all(Shown& shown, const std::string& code, Change change) {
  bool helped = false;
  for (int i = 0;;) {
    Shown other = shown;
    if (!change(other, i)) {
      if (i >=
          std::max<int>(shown.given.model.graph().node_size() * 4, 1) + static_cast<int>(std::ssize(parameters())))
        break;
      ++i;
      continue;
    }
    prune(other.given.model);
    const bool same = other.machine == shown.machine &&
                      other.given.model.SerializeAsString() == shown.given.model.SerializeAsString();
    if (!same && is_machine(other.machine) && outcome_apart(other).code == code) {
      shown = std::move(other);
      helped = true;
    } else {
      ++i;
    }
  }
  return helped;
}

}  // namespace

Shown shrunk(Shown shown, const std::string& code) {
  for (int round = 0; round < 4; ++round) {
    bool helped = false;
    for (const Change change : {one_output, ends_there, without_node, less_output, plain_machine, plain_setting,
                                without_attribute, plain_dimensions}) {
      if (change == plain_machine && round > 0) continue;
      helped |= try_all(shown, code, change);
    }
    if (!helped) break;
  }
  return shown;
}

std::string command_of(const Generated& given, const Machine& machine, const std::string& path,
                       const std::string& code) {
  std::string text = code.starts_with("executed") || code.starts_with("execute") || code.starts_with("rewritten")
                         ? "sdip run "
                         : "sdip validate ";
  text += path;
  for (const auto& [name, size] : given.dims) text += " --dim " + name + "=" + std::to_string(size);
  return text + settings_text(machine);
}

std::string shrink_into(const std::string& folder, std::uint64_t seed, const std::string& code) {
  if (code.ends_with(" draw")) return code + "\n  of drawing the model of seed " + std::to_string(seed);
  return shrink_into(folder, {drawn_model(seed), drawn_machine(seed), seed}, code);
}

std::string shrink_into(const std::string& folder, Shown shown, const std::string& code) {
  shown = shrunk(std::move(shown), code);
  std::string name;
  for (const char c : code) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/" + name.substr(0, 60) + ".onnx";
  std::ofstream(path, std::ios::binary) << shown.given.model.SerializeAsString();
  const Outcome outcome = outcome_apart(shown);
  std::string nodes;
  for (const auto& node : shown.given.model.graph().node()) nodes += " " + node.op_type();
  return code + "\n  " + outcome.detail + "\n  nodes:" + nodes + "\n  " +
         command_of(shown.given, shown.machine, path, code);
}

}  // namespace sdip::generate
