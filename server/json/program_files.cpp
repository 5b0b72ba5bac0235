// Programs read from files and costed.
#include "server/json/program_files.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/program/form/parse.h"
#include "server/io/files.h"

namespace sdip {

void require_no_program(const std::string& model) {
  if (!std::filesystem::is_regular_file(model)) return;
  const MappedFile mapped(model);
  if (is_graph_binary(mapped.bytes()) || mapped.text().starts_with("sdip graph "))
    throw Error("value_invalid", model, "this is a program, not a model; expected --program " + model);
}

CompiledStage program_of_file(const std::string& file, const OwnOperatorList& own) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  const MappedFile mapped(file);
  const auto bytes = mapped.bytes();
  if (bytes.size() > most_bytes) throw Error("too_large", file, "expected at most 256 MiB");
  const std::string_view text = mapped.text();
  if (!is_graph_binary(bytes) && text.find('\0') != std::string_view::npos)
    throw Error("graph_text_invalid", file, "expected a program, .graph text or its binary form; this is neither");
  try {
    return is_graph_binary(bytes) ? read_graph_binary(bytes, own) : parse_graph_text(text, own);
  } catch (const Error& error) {
    // What is wrong in a text begins with its line.
    const std::string_view what = error.what();
    const bool said = what.starts_with(error.where + ":") || what.starts_with(error.where + ",");
    throw Error(error.code, said ? file : file + ": " + error.where, error.what());
  }
}

Analysis analyze_programs(const std::vector<std::string>& files, const Machine& machine,
                          const OwnOperatorList& own) {
  Analysis analysis;
  analysis.machine = machine;
  for (const std::string& file : files) {
    analysis.model += (analysis.model.empty() ? "" : ", ") + file;
    const CompiledStage& stage = analysis.application.stages.emplace_back(program_of_file(file, own));
    require_like(stage, machine);
    const auto reason = misfit(stage, machine);
    if (!reason || !analysis.application.feasible) continue;
    analysis.application.feasible = false;
    analysis.application.reason = stage.name + ": " + *reason;
  }
  analysis.application.name = analysis.model;
  analysis.report = estimate(analysis.application, machine);
  return analysis;
}

}  // namespace sdip
