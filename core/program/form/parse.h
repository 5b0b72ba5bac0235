// The forms of a program read back: `.graph` text and its binary (docs/formats.md).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/ops/custom.h"
#include "core/program/program.h"

namespace sdip {

inline constexpr std::size_t most_instructions = 1'000'000;  // of a program that is read

/// The stage that a text describes: its graph, every type and shape inferred again, and its program, every class
/// checked against what the operators say. Trusts nothing. `own` are operators of files, or null. Throws
/// Error("graph_text_invalid", "line N", ...) where the text has another form, "graph_version" for another
/// version, "graph_inconsistent" where it contradicts itself or the operators' rules.
CompiledStage parse_graph_text(std::string_view text, std::shared_ptr<const OwnOperators> own = nullptr);

/// The binary form: the same, without loss. Its words are what IMEM is loaded with.
std::string write_graph_binary(const CompiledStage& stage);

/// Trusts nothing. Throws Error("bytes_invalid", offset, ...) and "graph_inconsistent".
CompiledStage read_graph_binary(std::span<const std::byte> bytes,
                                std::shared_ptr<const OwnOperators> own = nullptr);

/// Whether bytes begin as the binary form does.
bool is_graph_binary(std::span<const std::byte> bytes);

/// Throws Error("program_mismatch", parameter, ...) when the machine has other formats than the program is for.
void require_like(const CompiledStage& stage, const Machine& machine);

/// Why the machine's memories do not hold what the program puts there; nothing when they do.
std::optional<std::string> misfit(const CompiledStage& stage, const Machine& machine);

}  // namespace sdip
