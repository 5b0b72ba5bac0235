// A model's survey as bytes, to pass it from a child to the server: docs/formats.md has the form.
#pragma once

#include "core/base/bytes.h"
#include "core/onnx/survey.h"

namespace sdip {

void write_survey(ByteWriter& out, const ModelSurvey& survey);

/// Throws Error("bytes_invalid", ...).
ModelSurvey read_survey(ByteReader& in);

}  // namespace sdip
