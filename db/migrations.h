// The versions of the store, oldest first: rows are only ever added. Internal to its room.
#pragma once

#include <span>
#include <string>

#include "db/sqlite.h"

namespace sdip {

/// SQL that makes version i + 1 of version i.
std::span<const char* const> migrations();

/// Marks a file as ours: "SDIP" in ASCII, in the header's application id.
inline constexpr int store_application_id = 0x53444950;

/// Sees to it that a store of the version that `steps` lead to lies at `path`: makes one where there is none; of an
/// older one a copy, with the steps that it lacks. Either is made as PATH.new and renamed when it is whole; the
/// older one stays as PATH.before-vN. Throws Error("store_newer" | "store_foreign" | "store_corrupt" | "disk_full"
/// | "store_readonly" | "store_failed", path, ...) and leaves all as it was then. Requires that no other process
/// writes there.
void bring_up(const std::string& path, std::span<const char* const> steps = migrations());

/// The version of a store that is there. Throws Error("store_corrupt" | "store_newer" | "store_foreign", path,
/// ...).
std::int64_t store_version(Connection& connection, std::int64_t newest);

/// Sets up the log of writes, and how large it may stay: whoever writes a store calls this first.
void keep_log(Connection& connection);

}  // namespace sdip
