// Comparisons as tests ask for them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "server/studies/comparison.h"

namespace sdip {

/// `balanced` beside devices.
inline ComparisonAsked asked_of(const std::string& model, std::initializer_list<const char*> ids) {
  ComparisonAsked asked{.model = model, .machines = {{"sdip", "SDIP", find_preset("balanced")->machine}}};
  for (const char* id : ids) asked.devices.push_back(find_device(id));
  return asked;
}

inline const ComparisonRow& row_of(const std::vector<ComparisonRow>& rows, const std::string& id,
                                   std::int64_t batch = 1) {
  const auto found =
      std::ranges::find_if(rows, [&](const ComparisonRow& row) { return row.id == id && row.batch == batch; });
  check(found != rows.end(), "a row of that id");
  return *found;
}

}  // namespace sdip
