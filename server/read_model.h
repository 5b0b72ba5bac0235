// Reading a model's file: here, or in a confined child.
#pragma once

#include <filesystem>
#include <span>

#include "core/onnx/import.h"
#include "core/onnx/survey.h"
#include "server/sandbox.h"

namespace sdip {

/// A network as its file has it, and with its patterns recognised.
struct ReadModel {
  Graph as_written, rewritten;
  RewriteCounts rewrites;
};

/// Reads a model in this process. Throws what importing throws.
ReadModel read_model_here(std::span<const std::byte> bytes, const ImportOptions& options);

/// Reads the file in a child of `program`: no byte of it is parsed here, and what the child says is checked. Throws
/// what importing throws, and what answer_of_child throws; import_failed also for an answer that is none.
ReadModel read_model_apart(const std::filesystem::path& program, const std::filesystem::path& file,
                           const ImportOptions& options, const ChildLimits& limits = {});

/// What a file says of itself, read in a child likewise. Throws what a survey throws, and as read_model_apart.
ModelSurvey read_survey_apart(const std::filesystem::path& program, const std::filesystem::path& file,
                              const ImportOptions& options, const ChildLimits& limits = {});

/// Makes a survey of a model's bytes: survey_onnx.
using SurveyFunction = ModelSurvey (*)(std::span<const std::byte>, const ImportOptions&);

/// The child: reads the request, confines itself, reads the model, answers. Returns the exit code. Without `survey`
/// it only imports.
int run_read_model(SurveyFunction survey = nullptr);

}  // namespace sdip
