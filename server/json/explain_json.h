// Explanations and single changes as the JSON of POST /explanations and /sensitivities.
#pragma once

#include "core/cost/explain/explain.h"
#include "core/explore/sensitivity.h"
#include "server/json/report_json.h"

namespace sdip {

/// Kinds of layers explained in full when nothing is said, and at most.
inline constexpr std::int64_t usual_explained_layers = 5, most_explained_layers = 100;

OrderedJson explanation_json(const Analysis& analysis, const Explanation& explanation);

/// Share of frames a second that the list `more_frames` asks for.
inline constexpr double wanted_frame_share = 0.1;
/// Single changes of a machine that a model runs on.
struct SensitivitiesOf {
  std::string model;
  const Sensitivities& found;
};
template <>
struct Written<ChangeKind> : WrittenNames<change_kind_text, ChangeKind::assumption> {};
template <>
Record<Change> make_record();
template <>
Record<SensitivitiesOf> make_record();
OrderedJson sensitivities_json(const std::string& model, const Sensitivities& sensitivities);

/// The schemas of these and their parts.
void add_explanation_schemas(OrderedJson& schemas);

}  // namespace sdip
