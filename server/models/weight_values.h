// Where the weights of a model's file are read: generated for a built-in model, else from the file and those beside
// it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/exec/chip/execute.h"
#include "core/program/weights/weights.h"
#include "server/models/catalog.h"

namespace sdip {

/// Weights of a member: their numbers, and, of raw data, the bytes where they stand, mapped.
struct MemberWeights {
  WeightSource numbers;
  StoredByteSource bytes;  // nothing for what is packed in another way
};

/// Values of a member's weights. A built-in model gets random ones of `seed`, kept in an unnamed file of `folder`
/// as long as the source lives. For an ONNX file they are those inside it, or in files of external data as
/// map_external_file accepts them in its folder, each opened when the first weight in it is asked for. Both sources
/// throw Error weights_absent where a value has no bytes there, or not as many as its shape says; not_modelled for
/// data that stand in several pieces.
MemberWeights member_weights(const Member& member, const Machine& machine, std::uint64_t seed,
                             const std::filesystem::path& folder);

/// The numbers as a graph's computation takes them.
StoredTensors stored_tensors(WeightSource source);

/// The model that a stage comes from: its own, or that whose context it makes (hoist_context) or of which
/// it is a part in series (core_weights=per_core).
const Member& member_of(const std::vector<Member>& members, const std::string& stage);

}  // namespace sdip
