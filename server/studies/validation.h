// One validation from request to result: estimate against clock, executor against graph, within a time.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/explore/validate/validate.h"
#include "core/explore/validate/validate_tensors.h"
#include "core/study/said_formats.h"
#include "server/models/catalog.h"

namespace sdip {

struct ValidationRequest {
  std::string model;
  Machine machine;  // checked
  std::vector<std::string> layers;
  std::int64_t passes = 0;  // 0: as many as the estimate simulates
  bool tensors = true;
  std::uint64_t seed = 0;
  std::int64_t seconds = 60;  // counters take what they need of it first
  SaidFormats formats = {};   // of single layers
};

inline constexpr std::int64_t most_validation_seconds = 3600, most_validation_passes = 64;

/// The body of POST /validations (docs/api.md). Throws Error as point_request does, and value_out_of_range.
ValidationRequest validation_request(const Json& body);
/// The same request, spelled out: validation_request(request_json(r)) is r.
OrderedJson request_json(const ValidationRequest& request);

/// How far a validation is: instructions (of a stage's passes the part that is done), layers executed, or points of
/// a front.
struct ValidationProgress {
  std::string doing;  // "counters", "tensors"
  std::int64_t done = 0, total = 0;
};

/// A time that is being spent. The time that something will take is told from what the like has taken.
class Allowance {
 public:
  explicit Allowance(std::int64_t seconds, const std::atomic<bool>* cancel = nullptr)
      : cancel_(cancel), end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}

  /// So much of what is left of it.
  Allowance part(double share) const;

  bool cancelled() const { return cancel_ != nullptr && cancel_->load(); }
  double left_s() const;
  /// Whether work that takes `seconds` fits.
  bool fits(double seconds) const { return !cancelled() && seconds <= left_s(); }

 private:
  const std::atomic<bool>* cancel_;
  std::chrono::steady_clock::time_point end_;
};

struct Validation {
  std::string model;
  Machine machine;
  bool feasible = true, cancelled = false;
  std::string reason;  // when infeasible
  std::vector<StageCounters> counters;
  std::vector<StageTensors> tensors;  // empty when they were not asked for
  double seconds = 0;
};

/// The verdict on all that was compared, counters and tensors.
Verdict verdict_of(const Validation& validation);

/// Compiles and validates. Throws Error layer_unmatched, unknown_model and what importing throws.
Validation validate(const Catalog& catalog, const ValidationRequest& request,
                    const std::atomic<bool>* cancel = nullptr,
                    const std::function<void(const ValidationProgress&)>& progress = {});

/// Compiles a request that names layers, by patterns or in its formats. Throws Error layer_unmatched at /layers/N,
/// format_unmatched, unknown_model and what importing throws.
void require_layers(const Catalog& catalog, const ValidationRequest& request);

/// The two halves, of an application compiled already.
std::vector<StageCounters> validate_within(const Application& application, const ValidationRequest& request,
                                           const Allowance& allowance,
                                           const std::function<void(const ValidationProgress&)>& progress = {});
std::vector<StageTensors> execute_within(const Application& application, const ValidationRequest& request,
                                         const Allowance& allowance,
                                         const std::function<void(const ValidationProgress&)>& progress = {});

}  // namespace sdip
