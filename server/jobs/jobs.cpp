// Running sweeps.
#include "server/jobs/jobs.h"
#include "server/io/threads.h"

#include <algorithm>
#include <chrono>
#include <iostream>

#include "core/base/error.h"
#include "core/explore/sweep.h"
#include "core/study/signature.h"
#include "server/http/http.h"
#include "server/io/text.h"
#include "server/jobs/evaluations.h"
#include "server/jobs/revisions.h"
#include "server/json/batch_bytes.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::int64_t add_sweep(Store& store, const Catalog& catalog, const SweepSpec& spec,
                       const std::optional<SweepOrigin>& origin) {
  catalog.mix(spec.model, "/model");
  check_space(spec.space);
  SweepRow row;
  row.name = spec.name;
  row.model = spec.model;
  row.spec_json = json_text(spec_json(spec));
  row.total = point_count(spec.space);
  row.created = time_text();
  row.signature = signature();
  row.origin = origin;
  return store.add_sweep(row);
}

namespace {

/// A rule that is for no layer of the first point is a slip that would make every point infeasible; of other
/// points, whose machines may have other layers, it is their reason.
void require_layers(const SweepSpec& spec, const CompileFunction& compile_machine) {
  if (spec.formats.empty()) return;
  try {
    const Machine machine = point(spec.space, 0);
    check_machine(machine);
    compile_machine(machine);
  } catch (const Error& error) {
    if (error.code == "format_unmatched" || is_cancelled(error)) throw;
  }
}

}  // namespace

namespace {

using KeepBatch = std::function<void(PointBatch&&)>;

/// The points of `ranges` but for those that are known; true: `stop` ended it early.
bool evaluate_points(const Catalog& catalog, const SweepSpec& spec, const std::vector<IndexRange>& ranges,
                     const KnownPoints& known, std::int64_t threads, const std::atomic<bool>* cancel,
                     const KeepBatch& keep) {
  const Mix mix = catalog.mix(spec.model, "/model");
  const CompileFunction quickly =
      compile_quickly(catalog, mix, {spec.formats}, [cancel] { return cancel != nullptr && cancel->load(); });
  catalog.require_read(mix);
  try {
    require_layers(spec, quickly);
  } catch (const Error& error) {
    if (is_cancelled(error)) return true;
    throw;
  }
  SweepOptions how;
  how.threads = static_cast<int>(threads);
  how.cancel = cancel;
  how.seconds = seconds_now;
  how.known = known;
  return sweep(spec.space, ranges, quickly, side_by_side, how, keep).cancelled;
}

/// The same, of an upload, in a child.
bool evaluate_points_apart(const Catalog& catalog, const Member& member, const SweepRow& row, const SweepSpec& spec,
                           std::vector<IndexRange> ranges, TakenPoints* taken, const RunOptions& options,
                           const KeepBatch& keep) {
  Json request = {{"spec", Json::parse(row.spec_json)}, {"threads", options.threads}, {"ranges", Json::array()}};
  for (const IndexRange& range : ranges) request["ranges"].push_back({range.first, range.end});
  request["left_out"] = taken ? taken_text(*taken, ranges) : "";
  const auto take = [&](std::string_view bytes) {
    PointBatch batch = batch_of_bytes(bytes, spec.model);
    // Only what is missing, and that once: a child is not believed.
    const auto found = std::ranges::find_if(ranges, [&](const IndexRange& range) {
      return range.first <= batch.first && batch.range().end <= range.end;
    });
    if (found == ranges.end() || batch.count() == 0)
      throw Error("evaluation_failed", spec.model, spec.model + ": gave points that it was not asked for");
    const IndexRange rest{batch.range().end, found->end};
    found->end = batch.first;
    if (rest.first < rest.end) ranges.insert(found + 1, rest);
    keep(taken ? taken->completed(batch) : std::move(batch));
  };
  try {
    Evaluation evaluation = evaluation_named("sweep");
    evaluation.limits.threads = options.threads;
    catalog.apart(member, evaluation, request,
                  {take, [&] { return options.cancel != nullptr && options.cancel->load(); }}, true);
  } catch (const Error& error) {
    if (is_cancelled(error)) return true;
    throw;
  }
  return false;
}

}  // namespace

std::string evaluate_sweep(const Catalog& catalog, const Json& request, const EvaluationTurn& turn) {
  std::vector<IndexRange> ranges;
  for (const Json& range : request.at("ranges"))
    ranges.push_back({range.at(0).get<std::int64_t>(), range.at(1).get<std::int64_t>()});
  const KnownPoints known = left_out(request.at("left_out").get<std::string>(), ranges);
  evaluate_points(catalog, spec_from_json(request.at("spec")), ranges, known,
                  request.at("threads").get<std::int64_t>(), nullptr,
                  [&](PointBatch&& batch) { turn.show(bytes_of_batch(batch)); });
  return "";
}

namespace {

/// The missing points that lie in the part; both ascend.
std::vector<IndexRange> missing_of(std::vector<IndexRange> missing,
                                   const std::optional<std::vector<IndexRange>>& part) {
  if (!part) return missing;
  std::vector<IndexRange> ranges;
  auto one = missing.cbegin(), wanted = part->cbegin();
  while (one != missing.cend() && wanted != part->end()) {
    const IndexRange both{std::max(one->first, wanted->first), std::min(one->end, wanted->end)};
    if (both.first < both.end) ranges.push_back(both);
    one->end < wanted->end ? ++one : ++wanted;
  }
  return ranges;
}

std::int64_t points_of(const std::vector<IndexRange>& ranges) {
  std::int64_t count = 0;
  for (const IndexRange& range : ranges) count += range.end - range.first;
  return count;
}

}  // namespace

void queue_again(Store& store, std::int64_t id) {
  store.set_signature(id, signature());
  store.set_state(id, SweepState::queued);
}

bool run_sweep(Store& store, const Catalog& catalog, std::int64_t id, const RunOptions& options) {
  store.set_state(id, SweepState::running);
  try {
    store.set_signature(id, signature());
    const SweepRow row = store.sweep(id);
    const SweepSpec spec = spec_from_json(Json::parse(row.spec_json));
    const Mix mix = catalog.mix(spec.model, "/model");  // else every point would be infeasible, for good
    const auto ranges = missing_of(store.missing_ranges(id), options.part);
    PaceMeter meter(row.done, row.done + points_of(ranges), seconds_now());
    const auto taken = TakenPoints::of(store, row, spec);
    const KnownPoints known =
        taken ? KnownPoints([&](const IndexRange& range) { return taken->in(range); }) : nullptr;
    const KeepBatch keep = [&](PointBatch&& batch) {
      store.append(id, batch, taken ? taken->count(batch.range()) : 0);
      if (options.on_batch) options.on_batch(meter.after(batch.count(), seconds_now()));
    };
    const auto member = catalog.uploaded(mix);
    if (member ? evaluate_points_apart(catalog, *member, row, spec, ranges, taken.get(), options, keep)
               : evaluate_points(catalog, spec, ranges, known, options.threads, options.cancel, keep))
      return true;
    store.set_state(id, store.missing_ranges(id).empty() ? SweepState::done : SweepState::cancelled);
  } catch (const Error& error) {
    if (status_of(error.code) >= 500)  // what answers do not show
      std::cerr << "sdip: sweep " << id << ": " << error.code << ": " << printable(error.where) << ": "
                << printable(error.what()) << std::endl;
    store.set_state(id, SweepState::failed, Problem{error.code, error.where, error.what()});
  } catch (const std::exception& bug) {
    std::cerr << "sdip: internal: sweep " << id << ": " << printable(bug.what()) << std::endl;
    store.set_state(id, SweepState::failed, Problem{"internal", "", "a bug of ours; the log has more"});
  }
  return false;
}

namespace {

/// Those that were interrupted are queued, too. Oldest first.
std::deque<std::int64_t> queued_sweeps(Store& store) {
  for (const std::int64_t id : store.resume_interrupted())
    std::cerr << "sdip: sweep " << id << " was interrupted, and goes on" << std::endl;
  std::deque<std::int64_t> ids;
  for (const SweepRow& row : store.sweeps())
    if (row.state == SweepState::queued) ids.push_front(row.id);
  return ids;
}

}  // namespace

Jobs::Jobs(Store& store, const Catalog& catalog, std::function<void(std::int64_t)> on_done)
    : store_(store),
      catalog_(catalog),
      on_done_(std::move(on_done)),
      queue_(JobKind::sweep, queued_sweeps(store),
             [this](std::int64_t id, const JobTurn<Pace>& turn) { run(id, turn); }) {}

std::int64_t Jobs::submit(const SweepSpec& spec) {
  const std::int64_t id = add_sweep(store_, catalog_, spec);
  queue_.add(id);
  return id;
}

std::int64_t Jobs::revise(std::int64_t parent, const Revision& revision) {
  const std::int64_t id = add_revision(store_, catalog_, parent, revision);
  queue_.add(id);
  return id;
}

void Jobs::cancel(std::int64_t id) {
  if (!queue_.cancel(id)) store_.set_state(id, SweepState::cancelled);
}

void Jobs::resume(std::int64_t id) {
  // A sweep that could not even keep why it ended (a full disk) still says running.
  if (store_.sweep(id).state == SweepState::running && !pace(id)) store_.set_state(id, SweepState::interrupted);
  queue_again(store_, id);
  queue_.add(id);
}

void Jobs::run(std::int64_t id, const JobTurn<Pace>& turn) {
  RunOptions options;
  options.threads = threads_here();
  options.cancel = &turn.cancel;
  options.on_batch = turn.show;
  if (run_sweep(store_, catalog_, id, options))
    store_.set_state(id, turn.by_user() ? SweepState::cancelled : SweepState::interrupted);
  else if (on_done_ && store_.sweep(id).state == SweepState::done)
    on_done_(id);
}

}  // namespace sdip
