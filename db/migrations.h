// The versions of the store, oldest first: rows are only ever added.
#pragma once

#include <span>

#include "db/sqlite.h"

namespace sdip {

/// SQL that makes version i + 1 of version i.
std::span<const char* const> migrations();

/// Marks a file as ours: "SDIP" in ASCII, in the header's application id.
inline constexpr int store_application_id = 0x53444950;

/// Brings a new or older store to the version `steps` lead to, each step in a transaction of its own, an existing
/// store first copied to PATH.before-vN. Throws Error("store_newer" | "store_foreign", path, ...) and touches
/// nothing then.
void migrate(Connection& connection, std::span<const char* const> steps = migrations());

}  // namespace sdip
