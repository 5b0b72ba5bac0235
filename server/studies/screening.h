// Screenings as they are asked and answered in JSON.
#pragma once

#include "core/study/screening.h"
#include "server/models/catalog.h"

namespace sdip {

/// The body of POST /screenings (docs/api.md). Without axes the numbers that `sdip best` searches vary, from half
/// of the base's value to twice. Throws Error as best_request does, and limit_exceeded.
ScreeningRequest screening_request(const Json& body);

/// Throws Error unknown_model, and cancelled.
Screening screen(const Catalog& catalog, const ScreeningRequest& request, int threads, const Stop& stop = {});

OrderedJson screening_json(const Screening& screening);

}  // namespace sdip
