// Surveys to bytes and back. Every struct is taken apart whole: a field that is added and not written here does not
// compile.
#include "server/survey_bytes.h"

namespace sdip {
namespace {

constexpr std::size_t most_text = 1 << 20, most_items = 4'000'000;

void write_values(ByteWriter& out, const std::vector<SurveyedValue>& values) {
  out.size(values.size());
  for (const auto& [name, type, has_shape, dims] : values) {
    out.text(name);
    out.text(type);
    out.byte(has_shape ? 1 : 0);
    out.size(dims.size());
    for (const std::string& dim : dims) out.text(dim);
  }
}

void write_texts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.size(texts.size());
  for (const std::string& text : texts) out.text(text);
}

std::int64_t read_count(ByteReader& in) { return in.number(0, INT64_MAX); }

std::vector<std::string> read_texts(ByteReader& in) {
  std::vector<std::string> texts(in.size(most_items));
  for (std::string& text : texts) text = in.text(most_text);
  return texts;
}

std::vector<SurveyedValue> read_values(ByteReader& in) {
  std::vector<SurveyedValue> values(in.size(most_items, 4));
  for (auto& [name, type, has_shape, dims] : values) {
    name = in.text(most_text);
    type = in.text(most_text);
    has_shape = in.flag();
    dims = read_texts(in);
  }
  return values;
}

}  // namespace

void write_survey(ByteWriter& out, const ModelSurvey& survey) {
  const auto& [ir_version, opset, producer, graph, domains, inputs, outputs, free_dimensions, assumed, operators,
               functions, nodes, initializers, subgraphs, external_files] = survey;
  for (const std::int64_t number : {ir_version, opset, nodes, initializers, subgraphs}) out.number(number);
  out.text(producer);
  out.text(graph);
  out.size(domains.size());
  for (const auto& [domain, version] : domains) {
    out.text(domain);
    out.number(version);
  }
  write_values(out, inputs);
  write_values(out, outputs);
  write_texts(out, free_dimensions);
  write_texts(out, assumed);
  out.size(operators.size());
  for (const auto& [domain, type, count, first_node, unsupported] : operators) {
    for (const std::string& text : {domain, type, first_node, unsupported}) out.text(text);
    out.number(count);
  }
  out.size(functions.size());
  for (const auto& [domain, name, overload, count, calls] : functions) {
    for (const std::string& text : {domain, name, overload}) out.text(text);
    out.number(count);
    out.number(calls);
  }
  write_texts(out, external_files);
}

ModelSurvey read_survey(ByteReader& in) {
  ModelSurvey survey;
  survey.ir_version = in.number();
  survey.opset = in.number();
  for (std::int64_t* number : {&survey.nodes, &survey.initializers, &survey.subgraphs}) *number = read_count(in);
  survey.producer = in.text(most_text);
  survey.graph = in.text(most_text);
  survey.domains.resize(in.size(most_items, 2));
  for (auto& [domain, version] : survey.domains) {
    domain = in.text(most_text);
    version = in.number();
  }
  survey.inputs = read_values(in);
  survey.outputs = read_values(in);
  survey.free_dimensions = read_texts(in);
  survey.assumed = read_texts(in);
  survey.operators.resize(in.size(most_items, 5));
  for (SurveyedOperator& op : survey.operators) {
    for (std::string* text : {&op.domain, &op.type, &op.first_node, &op.unsupported}) *text = in.text(most_text);
    op.nodes = read_count(in);
  }
  survey.functions.resize(in.size(most_items, 5));
  for (SurveyedFunction& function : survey.functions) {
    for (std::string* text : {&function.domain, &function.name, &function.overload}) *text = in.text(most_text);
    function.nodes = read_count(in);
    function.calls = read_count(in);
  }
  survey.external_files = read_texts(in);
  return survey;
}

}  // namespace sdip
