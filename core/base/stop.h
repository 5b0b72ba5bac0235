// Long work that may be ended from outside.
#pragma once

#include <functional>
#include <string_view>

#include "core/base/error.h"

namespace sdip {

/// Asked now and then by work that may take long, on the thread that began it alone; true ends the work with
/// Error("cancelled", ...). None: it goes on to its end.
using Stop = std::function<bool()>;

/// Throws Error("cancelled", where, ...) when `stop` says so. `stop` may be nullptr.
inline void end_if(const Stop* stop, std::string_view where) {
  if (stop != nullptr && *stop && (*stop)())
    throw Error("cancelled", std::string(where), "the work was cancelled, or its time is over");
}
inline void end_if(const Stop& stop, std::string_view where) { end_if(&stop, where); }

/// Whether an error says that.
inline bool is_cancelled(const Error& error) { return error.code == "cancelled"; }

}  // namespace sdip
