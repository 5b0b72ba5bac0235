// Facts of models, printed.
#include "server/cli/text/model_text.h"

#include <fmt/core.h>

#include "core/base/list_text.h"
#include "core/base/tensor.h"
#include "server/io/text.h"

namespace sdip {
namespace {

constexpr std::size_t most_lines = 8;     // layers and tensors a stage
constexpr std::size_t list_columns = 78;  // of lists that are broken

std::int64_t number(const OrderedJson& value) { return value.get<std::int64_t>(); }
std::string text(const OrderedJson& value) { return printable(value.get<std::string>()); }
std::string count(const OrderedJson& value) { return count_text(number(value)); }
std::string bytes(const OrderedJson& value) { return quantity_text(value.get<double>(), "B"); }
std::string share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "-" : share_text(static_cast<double>(part) / static_cast<double>(whole));
}

/// A label and its list, on as many lines as it takes.
void add_list(std::vector<TextRow>& rows, const std::string& label, const std::vector<std::string>& items) {
  std::string line, first = label;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (!line.empty() && line.size() + item.size() >= list_columns) {
      rows.push_back({first, line});
      first = line = "";
    }
    line += (line.empty() ? "" : " ") + item;
  }
  if (!line.empty()) rows.push_back({first, line});
}

std::vector<std::string> counted(const OrderedJson& list, const char* name) {
  std::vector<std::string> items;
  for (const auto& row : list)
    if (number(row["count"]) > 0) items.push_back(text(row[name]) + " " + row["count"].dump());
  return items;
}

std::string opsets(const OrderedJson& facts) {
  const auto versioned = [](const OrderedJson& row) { return text(row["domain"]) + " " + row["version"].dump(); };
  return list_text(facts["opsets"], versioned) + ", IR " +
         (number(facts["ir_version"]) == 0 ? "not said" : facts["ir_version"].dump());
}

/// "[1,4,64,64]", and how the file declares it where that differs.
std::string shape_of(const OrderedJson& tensor) {
  const std::string declared = "[" + list_text(tensor["dims"], text, ",") + "]";
  const std::string shape = shape_text(tensor["shape"].get<Shape>());
  return declared == shape ? shape : shape + ", declared " + declared;
}

/// Its operator sets and its producer, then its inputs and outputs with the shape of each.
std::vector<TextRow> file_rows(const OrderedJson& facts, std::string (*shape)(const OrderedJson& value)) {
  const std::string producer = text(facts["producer"]);
  std::vector<TextRow> rows = {{"opset", opsets(facts)}, {"producer", producer.empty() ? "not said" : producer}};
  for (const auto& [key, name] : {std::pair("inputs", "input"), std::pair("outputs", "output")})
    for (const auto& value : facts[key])
      rows.push_back({name, fmt::format("{} {} {}", text(value["name"]), text(value["type"]), shape(value))});
  return rows;
}

void add_nodes(std::vector<TextRow>& rows, const OrderedJson& nodes) {
  rows.push_back({"nodes", fmt::format("{} in the file, {} imported ({} on weights alone), {} after rewriting",
                                       count(nodes["file"]), count(nodes["imported"]), count(nodes["constant"]),
                                       count(nodes["rewritten"]))});
  std::vector<std::string> items;
  const std::pair<const char*, const char*> kinds[] = {{"folded", "folded to constants"},
                                                       {"functions", "functions inlined"},
                                                       {"branches", "branches decided"},
                                                       {"loop_iterations", "loop iterations unrolled"},
                                                       {"composites", "composites expanded"}};
  for (const auto& [key, words] : kinds)
    if (number(nodes[key]) > 0) items.push_back(count(nodes[key]) + " " + words);
  add_list(rows, "at import", items);
}

void add_work(std::vector<TextRow>& rows, const OrderedJson& stage) {
  const OrderedJson& report = stage["report"];
  std::string types;
  for (const auto& row : report["parameters"])
    types += fmt::format("{}{}: {}, {} in {} tensors", types.empty() ? "; " : ", ", text(row["type"]),
                         count(row["elements"]), bytes(row["bytes"]), count(row["tensors"]));
  rows.push_back({"parameters", count(stage["parameters"]) + types});
  const auto& macs = stage["macs"];
  const std::int64_t conv = number(macs["conv"]), linear = number(macs["linear"]), matmul = number(macs["matmul"]);
  const std::int64_t total = conv + linear + matmul;
  rows.push_back({"MACs", fmt::format("{}: conv2d {}, linear {}, matmul {}", count_text(total), share(conv, total),
                                      share(linear, total), share(matmul, total))});
  std::vector<std::string> other;
  for (const auto& row : report["families"])
    if (number(row["elements"]) > 0) other.push_back(text(row["family"]) + " " + count(row["elements"]));
  add_list(rows, "elements", other);
}

void print_live(std::ostream& out, const OrderedJson& report, bool colour) {
  std::vector<TextRow> rows;
  for (const auto& row : report["live"])
    rows.push_back({text(row["rule"]), bytes(row["int8_bytes"]), bytes(row["fp16_bytes"]), count(row["intervals"]),
                    count(row["crossings"]), text(row["node"])});
  print_section(out, "Alive at once, in the file's order",
                {{"rule"},
                 {"int8", Align::right},
                 {"fp16", Align::right},
                 {"intervals", Align::right},
                 {"crossing pairs", Align::right},
                 {"peak at", Align::left, true}},
                rows, colour);
  const auto& residual = report["residual"];
  out << "  " << count(residual["adds"])
      << " Adds of two activations of one shape; skips over more than 16 operators: "
      << count(residual["concat_skips"]) << " to Concat, " << count(residual["add_skips"]) << " to Add";
  const std::int64_t crossings = number(residual["crossings"]);
  if (number(residual["concat_skips"]) + number(residual["add_skips"]) > 0)
    out << ";\n  "
        << (crossings == 0 ? "a stack holds them" : count_text(crossings) + " pairs cross: no stack holds them")
        << ", longest " << count(residual["longest_operators"]) << " operators";
  if (number(residual["concat_held_int8_bytes"]) > 0)
    out << ", " << bytes(residual["concat_held_int8_bytes"]) << " at int8 for Concats at most";
  out << "\n";
}

void print_layers(std::ostream& out, const OrderedJson& report, std::int64_t macs, bool colour) {
  std::vector<TextRow> rows;
  for (const auto& row : report["layers"]) {
    if (rows.size() == most_lines) break;
    const std::int64_t all = number(row["macs"]) * number(row["nodes"]);
    rows.push_back({text(row["type"]), text(row["work"]), count(row["nodes"]),
                    number(row["macs"]) > 0 ? count(row["macs"]) : count(row["elements"]) + " elements",
                    share(all, macs)});
  }
  print_section(
      out, "Layers of equal work, " + count(report["layer_classes"]) + " kinds",
      {{"type"}, {"work"}, {"nodes", Align::right}, {"MACs each", Align::right}, {"of MACs", Align::right}}, rows,
      colour);
}

void print_tensors(std::ostream& out, const OrderedJson& report, bool colour) {
  std::vector<TextRow> rows;
  for (const auto& [kind, name] : {std::pair("activations", "activation"), std::pair("weights", "weight")}) {
    std::size_t listed = 0;
    for (const auto& row : report[kind]) {
      if (++listed > most_lines / 2) break;
      rows.push_back({name, shape_text(row["shape"].get<Shape>()), bytes(row["int8_bytes"]),
                      bytes(row["fp16_bytes"]), text(row["name"])});
    }
  }
  print_section(out, "Largest tensors",
                {{""}, {"shape"}, {"int8", Align::right}, {"fp16", Align::right}, {"name", Align::left, true}},
                rows, colour);
}

void add_tree(std::vector<TextRow>& rows, const OrderedJson& tree, std::size_t depth, std::int64_t macs) {
  const std::string indent(2 * depth, ' ');
  const std::int64_t own = number(tree["macs"]);
  const std::string name = text(tree["name"]);
  rows.push_back({indent + (name.empty() ? "(model)" : name), count(tree["nodes"]), count(tree["parameters"]),
                  own > 0 ? quantity_text(static_cast<double>(own), "MAC") : "", own > 0 ? share(own, macs) : ""});
  if (tree.contains("children"))
    for (const auto& child : tree["children"]) add_tree(rows, child, depth + 1, macs);
  if (tree.contains("more")) rows.push_back({indent + "  and " + count(tree["more"]) + " more", "", "", "", ""});
}

void print_tree(std::ostream& out, const OrderedJson& tree, bool colour) {
  std::vector<TextRow> rows;
  add_tree(rows, tree, 0, number(tree["macs"]));
  print_section(out, "Modules, by the nodes' names",
                {{"module"},
                 {"nodes", Align::right},
                 {"parameters", Align::right},
                 {"MACs", Align::right},
                 {"of MACs", Align::right}},
                rows, colour);
}

void print_stage(std::ostream& out, const OrderedJson& stage, bool with_tree, bool colour) {
  const OrderedJson& report = stage["report"];
  print_heading(out, text(stage["name"]) + " (" + text(stage["role"]) + ")", colour);
  std::vector<TextRow> rows = file_rows(stage, shape_of);
  add_work(rows, stage);
  add_nodes(rows, report["nodes"]);
  add_list(rows, "operators", counted(stage["operators"], "type"));
  auto recognised = counted(stage["rewrites"], "pattern");
  if (recognised.empty()) recognised.push_back("nothing");
  add_list(rows, "recognised", recognised);
  add_list(rows, "still decomposed", counted(report["decomposed"], "pattern"));
  print_table(out, {{""}, {""}}, rows, colour);
  print_live(out, report, colour);
  print_layers(out, report, number(report["tree"]["macs"]), colour);
  print_tensors(out, report, colour);
  if (with_tree) print_tree(out, report["tree"], colour);
}

std::string surveyed_shape(const OrderedJson& value) {
  if (value["dims"].is_null()) return "without a shape";
  return "[" + list_text(value["dims"], text, ",") + "]";
}

void print_survey(std::ostream& out, const OrderedJson& survey, bool colour) {
  std::vector<TextRow> rows = file_rows(survey, surveyed_shape);
  rows.push_back({"nodes", fmt::format("{}, {} initializers, {} functions, {} subgraphs", count(survey["nodes"]),
                                       count(survey["initializers"]), count(survey["functions"]),
                                       count(survey["subgraphs"]))});
  add_list(rows, "operators", counted(survey["operators"], "type"));
  print_table(out, {{""}, {""}}, rows, colour);
}

}  // namespace

void print_facts(std::ostream& out, const OrderedJson& facts, bool with_tree, bool colour) {
  bool first = true;
  for (const auto& stage : facts["stages"]) {
    out << (first ? "" : "\n");
    print_stage(out, stage, with_tree, colour);
    first = false;
  }
}

void print_refused(std::ostream& out, const OrderedJson& refused, bool colour) {
  print_heading(out, text(refused["name"]) + " (cannot be imported)", colour);
  if (refused.contains("survey")) print_survey(out, refused["survey"], colour);
  std::vector<TextRow> rows;
  for (const auto& row : refused["problems"])
    rows.push_back({text(row["code"]), text(row["where"]), text(row["detail"])});
  print_section(out, "In the way", {{"code"}, {"where", Align::left, true}, {""}}, rows, colour);
  const std::string give = refused.value("give", "");
  if (!give.empty()) out << "\nAdd, with sizes and values of yours: " << printable(give) << "\n";
}

}  // namespace sdip
