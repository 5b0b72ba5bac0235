// Operators that are not known here: all of a model at once.
#include "core/base/error.h"
#include "core/onnx/reading.h"
#include "core/onnx/versions.h"

namespace sdip {
namespace {

struct Unknown {
  std::int64_t nodes = 0;
  std::string first, why;
};

struct UnknownSearch {
  const ModelReading& reading;
  std::map<std::string, Unknown> found;  // by operator
  std::unordered_set<const Function*> seen;
};

void search(UnknownSearch& run, const Nodes& nodes, const std::map<std::string, std::int64_t>& opsets) {
  for (int i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (const Function* function = find_function(run.reading, node)) {
      if (run.seen.insert(function).second) search(run, function->proto->node(), function->opsets);
      continue;
    }
    if (!is_control(node)) {
      const std::string why = why_unsupported(node, opsets, run.reading.options.own_operators.get());
      if (why.empty()) continue;
      Unknown& unknown = run.found[operator_text(node.domain(), node.op_type())];
      if (unknown.nodes++ == 0) unknown.first = own_name(node, i), unknown.why = why;
    } else if (node.op_type() != "If") {
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) search(run, attribute.g().node(), opsets);
      }
    }
  }
}

}  // namespace

void refuse_unknown(const ModelReading& reading, const Nodes& nodes,
                    const std::map<std::string, std::int64_t>& opsets, const std::string& also) {
  UnknownSearch run{reading, {}, {}};
  search(run, nodes, opsets);
  if (run.found.empty()) return;
  std::string list;
  for (const auto& [type, unknown] : run.found) {
    list += fmt::format("{}{} ({}; {}{}, first '{}')", list.empty() ? "" : "; ", type, unknown.why, unknown.nodes,
                        unknown.nodes == 1 ? " node" : " nodes", unknown.first);
    if (list.size() > 4000) {
      list += "; and others";
      break;
    }
  }
  throw Error("unknown_operator", run.found.begin()->second.first,
              "these operators cannot be used: " + list +
                  "; an operator file can say what they cost (docs/formats.md)" + also);
}

}  // namespace sdip
