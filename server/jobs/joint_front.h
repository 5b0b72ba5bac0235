// The front of several sweeps together, as a user asks for it.
#pragma once

#include "server/jobs/fronts.h"

namespace sdip {

inline constexpr std::size_t most_joint_sweeps = 64;

struct JointFrontRequest {
  std::vector<std::int64_t> sweeps;
  std::string objectives{};            // "throughput_fps,min:area_mm2"; "": the sweeps' own, which must be the same
  std::vector<Formula> formulas{};     // beside each sweep's own
  std::vector<Formula> constraints{};  // likewise
};

/// The names of the members of a request, for errors.
struct JointFrontPlaces {
  std::string sweeps, objectives, formulas, constraints;
};

/// "1,2,5". Throws Error("value_invalid", where, ...) for what is no list of numbers.
std::vector<std::int64_t> sweep_numbers(std::string_view list, const std::string& where);

/// Throws Error not_found for a sweep that is not there; value_invalid for none, one twice, and objectives that
/// differ where none are said; unknown_metric; value_conflict where a formula that is an objective is another one
/// in another sweep; engine_changed where points are of different engines; limit_exceeded above 64 sweeps, or 32
/// formulas or constraints of one.
SweepsFront joint_front(const Store& store, const JointFrontRequest& request, const JointFrontPlaces& places);

/// GET /fronts
OrderedJson joint_front_json(const SweepsFront& front);

/// Said where the sweeps are of several models, whose figures are of different work; "" where not.
std::string models_note(const SweepsFront& front);

}  // namespace sdip
