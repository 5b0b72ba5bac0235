// Answers of parts of a search, made into one.
#pragma once

#include <span>
#include <string>

#include "server/studies/best_json.h"

namespace sdip {

/// An answer as `sdip best --part K/N --json` printed it.
struct PartAnswer {
  std::string name;  // of its file, which errors name
  Json json;
};

/// The best of all of them, or their front, with what is around it: the request without its part. The same answer
/// again changes nothing. Throws Error value_invalid of what is no such answer or was cancelled, value_conflict of
/// another request, engine_changed of another engine, and what answer_of does.
BestAnswer merged_best(const Catalog& catalog, std::span<const PartAnswer> parts,
                       const std::atomic<bool>* cancel = nullptr);

/// The parts of the request that none of them is: "2, 5"; "" where all are there.
std::string missing_parts(std::span<const PartAnswer> parts);

}  // namespace sdip
