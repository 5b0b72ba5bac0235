// Formats of layers as users say them: a text in the language of core/program/form/format_text.h.
#pragma once

#include <string>

#include "core/program/form/format_text.h"

namespace sdip {

/// `from`: the file or JSON pointer that the text came from, for errors. An empty text says nothing.
struct SaidFormats {
  std::string text{};
  std::string from = "/formats";
};

/// The rules alone, without comments and blanks: equal texts say the same.
std::string rules_text(const SaidFormats& formats);

/// compile with these formats; a rule that is for no layer is told with the text that says it, one of
/// `mappings_from`, whose rules are among the options, likewise. Throws what parsing throws, too.
Application compile_said(const Workload& workload, const Machine& machine, const SaidFormats& formats,
                         CompileOptions options = {}, const std::string& mappings_from = {});

}  // namespace sdip
