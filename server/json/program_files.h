// Programs as files: `.graph` text or its binary form, told apart by how they begin.
#pragma once

#include "server/json/report_json.h"
#include "server/models/operator_files.h"

namespace sdip {

/// Throws Error value_invalid where the file of this name is a program, given in place of a model.
void require_no_program(const std::string& model);

/// Throws Error graph_text_invalid, graph_version, graph_inconsistent, bytes_invalid, too_large (above 256 MiB),
/// naming the file, and what reading a file throws.
CompiledStage program_of_file(const std::string& file, const OwnOperatorList& own);

/// The cost of programs on a machine, each file a stage. It is infeasible where the machine's memories do not hold
/// what they put there. Throws also Error program_mismatch where the machine has other formats.
Analysis analyze_programs(const std::vector<std::string>& files, const Machine& machine,
                          const OwnOperatorList& own);

}  // namespace sdip
