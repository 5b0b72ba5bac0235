// The table of operators: which rows and types an opset has.
#include "tests/generate/rows/rows.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/onnx/import.h"
#include "core/onnx/versions.h"
#include "core/ops/operator.h"
#include "tests/generate/idioms.h"

namespace sdip::generate {
namespace {

std::string_view onnx_text(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return "tensor(float)";
    case ElementType::float64:
      return "tensor(double)";
    case ElementType::boolean:
      return "tensor(bool)";
    default: {
      static std::map<ElementType, std::string> texts;
      return texts.try_emplace(type, "tensor(" + std::string(element_type_text(type)) + ")").first->second;
    }
  }
}

/// Whether ONNX allows the type there; libonnx 1.12 knows opsets up to 17.
bool is_allowed(const Row& row, ElementType type, std::int64_t opset) {
  if (opset > row.last_opset || opset < row.first_opset) return false;
  const Operator* op = find_operator(row.domain, row.type);
  if (op != nullptr && *row.domain == '\0' && first_opset(*op) > opset) return false;
  if (*row.domain != '\0' || row.typed < 0) return true;
  const auto* schema =
      onnx::OpSchemaRegistry::Schema(row.type, static_cast<int>(std::min<std::int64_t>(opset, 17)));
  if (schema == nullptr) return opset > 17 || op == nullptr || *row.domain != '\0';
  if (schema->Deprecated()) return false;
  const auto& allowed = schema->inputs().at(index(row.typed)).GetTypes();
  return std::ranges::any_of(allowed, [&](const std::string* text) { return *text == onnx_text(type); });
}

std::vector<Choice> list_choices(std::int64_t opset) {
  std::vector<Choice> choices;
  for (const auto rows : {elementwise_rows(), product_rows(), window_rows(), shape_rows(), choice_rows(),
                          reduction_rows(), quantized_rows(), contrib_rows(), state_rows(), control_rows(),
                          shape_idioms(), attention_idioms(), network_idioms()})
    for (const Row& row : rows)
      for (const ElementType type : row.types)
        if (opset == 0 || is_allowed(row, type, opset)) choices.push_back({&row, type});
  return choices;
}

/// Operators that networks are made of, and that therefore come more often.
constexpr std::string_view usual[] = {"Add",    "Mul",     "Relu",    "MatMul",
                                      "Conv",   "Gemm",    "Reshape", "Transpose",
                                      "Concat", "Softmax", "Sigmoid", "LayerNormalization",
                                      "Slice",  "Split",   "Sub",     "ReduceMean"};

bool is_usual(const Row& row) {
  return *row.domain == '\0' && std::ranges::find(usual, std::string_view(row.type)) != std::ranges::end(usual);
}

std::vector<Turn> list_turns() {
  std::vector<Turn> turns;
  std::map<std::pair<const Row*, ElementType>, std::size_t> places;
  for (std::int64_t opset = least_opset; opset <= most_opset; ++opset)
    for (const Choice& choice : choices_of(opset)) {
      const auto [place, fresh] = places.emplace(std::pair(choice.row, choice.type), turns.size());
      if (fresh) turns.push_back({choice, {}});
      turns[place->second].opsets.push_back(opset);
    }
  Draw draw(1);
  for (std::size_t i = turns.size(); i > 1; --i)
    std::swap(turns[i - 1], turns[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(i) - 1))]);
  return turns;
}

const std::vector<Turn>& turns() {
  static const std::vector<Turn> all = list_turns();
  return all;
}

}  // namespace

const Turn& turn_of(std::uint64_t number) { return turns()[number % turns().size()]; }
std::uint64_t turn_count() { return turns().size(); }

std::string choice_text(const Row& row, ElementType type) {
  return operator_text(row.domain, row.type) + " " + std::string(element_type_text(type));
}

const std::vector<Choice>& choices_of(std::int64_t opset) {
  static std::map<std::int64_t, std::vector<Choice>> lists;
  const auto found = lists.find(opset);
  return found != lists.end() ? found->second : lists.emplace(opset, list_choices(opset)).first->second;
}

std::vector<std::string> all_choices() {
  std::set<std::string> texts;
  for (std::int64_t opset = least_opset; opset <= most_opset; ++opset)
    for (const Choice& choice : choices_of(opset)) texts.insert(choice_text(*choice.row, choice.type));
  return {texts.begin(), texts.end()};
}

bool has_body(const Row& row) {
  const std::string_view type = row.type;
  return type == "If" || type == "Loop" || type == "Scan" || type == "FlexAttention" || type == "squeeze_if";
}

/// One in five is usual; of the others two in three have a type that is there, so that the graph hangs together.
void add_drawn_node(Making& m) {
  const std::vector<Choice>& choices = choices_of(m.opset);
  const bool plain = m.draw.one_in(5), any_type = m.draw.one_in(3);
  for (int tries = 0;; ++tries) {
    const Choice& choice = m.draw.of(choices);
    if (has_body(*choice.row) && m.depth >= 2) continue;
    if (plain && tries < 2000 && !(is_usual(*choice.row) && choice.type == ElementType::float32)) continue;
    if (!any_type && tries < 200 && !m.has(choice.type)) continue;
    add_node_of(m, choice);
    return;
  }
}

void add_node_of(Making& m, const Choice& choice) {
  choice.row->make(m, *choice.row, choice.type);
  m.count_drawn(choice_text(*choice.row, choice.type));
}

std::vector<int> put(Making& m, const Row& row, const std::vector<int>& inputs, const AttributeList& attributes,
                     int outputs, const std::vector<bool>& unused) {
  return m.node(row.domain, row.type, inputs, attributes, outputs, unused);
}

std::int64_t axis_of(Making& m, std::int64_t rank) {
  const std::int64_t axis = m.draw.between(0, std::max<std::int64_t>(0, rank - 1));
  return m.draw.one_in(3) && m.opset >= 11 ? axis - rank : axis;
}

bool maybe(Making& m) { return m.draw.one_in(2); }

}  // namespace sdip::generate
