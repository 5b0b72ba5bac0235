// Versions of the file's form and of its operators: which are read.
#include "core/onnx/versions.h"

#include <charconv>

#include "core/base/error.h"
#include "core/onnx/import.h"

namespace sdip {

std::string_view domain_of(const std::string& domain) {
  return domain == "ai.onnx" ? std::string_view() : std::string_view(domain);
}

std::map<std::string, std::int64_t> read_opsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  std::map<std::string, std::int64_t> opsets;
  const auto fail = [](const std::string& what) { throw Error("unsupported_opset", "", what); };
  for (const auto& import : imports) {
    const auto [at, fresh] = opsets.emplace(domain_of(import.domain()), import.version());
    if (!fresh && at->second != import.version()) {
      fail("domain '" + import.domain() + "' is imported in two versions");
    }
    if (at->first.empty() && (at->second < least_opset || at->second > most_opset)) {
      fail("opset " + std::to_string(at->second) + " of ai.onnx, expected " + std::to_string(least_opset) + " to " +
           std::to_string(most_opset) +
           ": export it again with opset_version=17, or convert it with onnx.version_converter");
    }
    if (at->first == "com.microsoft" && at->second != microsoft_version) {
      fail(fmt::format("version {} of com.microsoft, expected {}", at->second, microsoft_version));
    }
  }
  return opsets;
}

void check_ir_version(const onnx::ModelProto& model) {
  if (model.ir_version() >= least_ir_version && model.ir_version() <= most_ir_version) return;
  throw Error("unsupported_ir_version", "",
              fmt::format("IR version {}, expected {} to {}: export the model again", model.ir_version(),
                          least_ir_version, most_ir_version));
}

std::int64_t first_opset(const Operator& op) {
  std::int64_t first = 0;
  std::from_chars(op.since.data(), op.since.data() + op.since.size(), first);
  return first;
}

std::string why_unsupported(const onnx::NodeProto& node, const std::map<std::string, std::int64_t>& opsets,
                            const OwnOperators* own) {
  const auto opset = opsets.find(std::string(domain_of(node.domain())));
  if (opset == opsets.end()) return "domain '" + node.domain() + "' is not imported";
  const Operator* op = find_operator(own, node.domain(), node.op_type());
  if (op == nullptr || op->domain == "sdip") return "not known here";  // no file may name what rewrites make
  if (first_opset(*op) <= opset->second) return "";
  return fmt::format("exists from opset {} on, and this is opset {}", first_opset(*op), opset->second);
}

std::string operator_text(const std::string& domain, const std::string& type) {
  const std::string_view shown = domain_of(domain);
  return shown.empty() ? type : std::string(shown) + "::" + type;
}

}  // namespace sdip
