// sdip sweep.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/study/said_formats.h"
#include "core/study/signature.h"
#include "server/cli/commands.h"
#include "server/cli/sweep_arguments.h"
#include "server/cli/text/best_text.h"
#include "server/cli/text/front_text.h"
#include "server/io/text.h"
#include "server/io/threads.h"
#include "server/jobs/accuracy_front.h"
#include "server/jobs/data_folder.h"
#include "server/jobs/export_file.h"
#include "server/jobs/fronts.h"
#include "server/jobs/jobs.h"
#include "server/jobs/merge.h"
#include "server/jobs/revisions.h"
#include "server/jobs/service.h"
#include "server/jobs/sweep_json.h"
#include "server/jobs/validation_jobs.h"
#include "server/models/operator_files.h"

namespace sdip {
namespace {

/// A line on standard error: rewritten on a terminal four times a second, else printed every ten seconds.
class ProgressLine {
 public:
  explicit ProgressLine(std::int64_t total) : total_(total), terminal_(::isatty(2) == 1) {}
  void show(const Pace& pace, bool last) {
    const auto now = std::chrono::steady_clock::now();
    if (!last && now < next_) return;
    next_ = now + (terminal_ ? std::chrono::milliseconds(250) : std::chrono::milliseconds(10'000));
    std::cerr << (terminal_ ? "\r\x1b[K" : "") << count_text(pace.done) << " of " << count_text(total_)
              << " points, " << count_text(static_cast<std::int64_t>(pace.points_per_second)) << " points/s";
    if (!last && pace.eta_s) std::cerr << ", " << std::llround(*pace.eta_s) << " s left";
    std::cerr << (terminal_ && !last ? "" : "\n") << std::flush;
  }

 private:
  std::int64_t total_;
  bool terminal_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
};

/// A file's name as the name of an uploaded model.
std::string model_name_of(const std::filesystem::path& file) {
  std::string name = file.stem().string().substr(0, 64);
  for (char& c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '.' && c != '_')
      c = '-';
  return name;
}

/// A model given as a file joins the data folder, so that the sweep can be resumed without it.
std::string stored_model(Catalog& catalog, const std::filesystem::path& data, const SweepArguments& arguments,
                         const std::string& model) {
  std::error_code ignored;
  if (is_built_in(model)) return model;
  const auto kind = std::filesystem::status(model, ignored).type();
  const bool named = kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::directory;
  if (!model.ends_with(".onnx") && named) return model;
  const MappedFile source(model);
  require_folder(data / "models");
  NewFile copy(data / "models" / "upload");
  copy.write(source.text());
  std::string name = model_name_of(model);
  const FileModels files = file_models(arguments.files);
  const Member member{files.role, name, copy.path(), files.dims, files.given};
  OrderedJson refused;
  try {
    catalog.add(member, copy, sha256_hex(source.bytes()), {}, &refused, Asking::options);
  } catch (const Error& error) {
    if (!takes_advice(error) || !refused.contains("detail")) throw;
    throw Error(error.code, error.where, refused["detail"].get<std::string>());
  }
  for (const std::string& note : catalog.notes(name)) files.tell(note);
  return name;
}

/// The same of each workload of a mix.
std::string stored_models(Catalog& catalog, const std::filesystem::path& data, const SweepArguments& arguments,
                          const std::string& models) {
  std::error_code ignored;
  if (std::filesystem::exists(models, ignored)) return stored_model(catalog, data, arguments, models);
  Mix mix = mix_of_text(models, "MODEL");
  for (MixPart& part : mix) part.model = stored_model(catalog, data, arguments, part.model);
  return mix_text(mix);
}

/// The body of POST /sweeps, its models in the data folder.
Json body_of(Catalog& catalog, const std::filesystem::path& data, const SweepArguments& arguments) {
  Json body = sweep_body(arguments);
  if (body.is_object() && body.contains("model") && body["model"].is_string())
    body["model"] = stored_models(catalog, data, arguments, body["model"].get<std::string>());
  return body;
}

std::int64_t start_or_resume(Store& store, Catalog& catalog, const std::filesystem::path& data,
                             const SweepArguments& arguments) {
  if (const auto asked = asked_revision(arguments))
    return add_revision(store, catalog, asked->parent, asked->revision);
  if (!arguments.resume) return add_sweep(store, catalog, said_spec(arguments, body_of(catalog, data, arguments)));
  if (arguments.data.empty()) throw Error("value_invalid", "--resume", "needs --data, the folder of the sweep");
  if (!arguments.links.empty())
    throw Error("value_conflict", "--link", "a sweep that is resumed has the links that it began with");
  if (store.sweep(*arguments.resume).state != SweepState::queued) queue_again(store, *arguments.resume);
  return *arguments.resume;
}

/// An error in the rules of --formats, told with the file and not the key of the sweep that they became.
Error told_by_file(const Error& error, const std::string& file) {
  constexpr std::string_view pointer = "/formats:";
  if (file.empty() || !error.where.starts_with(pointer)) return error;
  const std::string where = file + ":" + error.where.substr(pointer.size());
  const std::string_view what = error.what();  // of a rule that is none, it begins with the place
  const bool placed = what.starts_with(error.where);
  return {error.code, where, placed ? where + std::string(what.substr(error.where.size())) : std::string(what)};
}

/// The front validated, and that kept beside the sweep; null when it was not, or nothing is feasible.
OrderedJson validated_front(Store& store, const Catalog& catalog, const SweepRecord& sweep, std::int64_t seconds) {
  const auto id = add_front_validation(store, sweep, seconds);
  if (!id) return nullptr;
  std::cerr << "validating the front (--validate-seconds 0 leaves it out)" << std::endl;
  if (run_validation(store, catalog, *id, &interrupts())) {
    store.set_validation_state(*id, SweepState::cancelled);
    return nullptr;
  }
  const ValidationRow row = store.validation(*id);
  if (row.error) throw Error(row.error->code, row.error->where, row.error->message);
  return OrderedJson::parse(row.summary_json);
}

void print_validation(const OrderedJson& summary) {
  if (summary.is_null()) return;
  const auto count = [&](const char* key) { return count_text(summary[key].get<std::int64_t>()); };
  const bool compared = summary["verdict"] != verdict_text(Verdict::not_compared);
  std::cout << "\nFront validated: " << (compared ? summary["verdict"].get<std::string>() : "nothing compared")
            << ", " << count("points_covered") << " of " << count("points") << " points in every counter, "
            << count("classes_executed") << " of " << count("classes") << " kinds of layer executed\n";
  const OrderedJson& first = summary["first_difference"];
  if (!first.is_null())
    std::cout << "  first difference: point " << first["point"] << ", "
              << printable(first["stage"].get<std::string>()) << " " << printable(first["layer"].get<std::string>())
              << ": " << printable(first["what"].get<std::string>()) << ": " << first["estimated"] << " / "
              << first["executed"] << "\n";
}

/// "31.5 (random weights)"; nothing where it was not measured.
std::string decibels_text(const PointAccuracies& measured, std::int64_t index) {
  const auto found = measured.find(index);
  if (found == measured.end()) return "";
  const double db = found->second.sqnr_db;
  const std::string text = std::isfinite(db) ? fixed_text(db, 1) : db > 0 ? "exact" : "-";
  return text + (found->second.random_weights ? " (random weights)" : "");
}

void print_front(const Store& store, const SweepRecord& sweep, const OrderedJson& validation, bool json) {
  const SweepsFront front = front_of_sweeps(store, {sweep}, sweep.spec.objectives);
  if (json)
    return void(print_json({{"sweep", sweep_json(sweep.row, std::nullopt)},
                            {"front", front_json(store, front)},
                            {"validation", validation}}));
  Fields shown = fields_of(sweep.spec, "", "");
  shown.metrics = measures_for_people(sweep.spec);
  std::vector<Column> columns = {{"point", Align::right}};
  for (const auto axis : shown.axes)
    columns.push_back({std::string(sweep.spec.space.axes[axis].row->name), Align::right});
  for (const Measure& metric : shown.metrics) columns.push_back({std::string(metric.name()), Align::right});
  const PointAccuracies measured = store.point_accuracies(sweep.row.id);
  if (!measured.empty()) columns.push_back({"sqnr_db", Align::right});
  columns.push_back({"knee"});
  columns.push_back({"differs from the one before by", Align::left, true});
  std::vector<TextRow> rows;
  for (const FrontRow& row : front.rows) {
    const std::int64_t index = row.point.index;
    TextRow cells = {std::to_string(index)};
    for (const auto axis : shown.axes) {
      const auto& one = sweep.spec.space.axes[axis];
      cells.push_back(value_text(*one.row, axis_value(sweep.spec.space, axis, index)));
    }
    for (const Measure& metric : shown.metrics) {
      const double value = measure_of(metric, sweep.spec.space, index, row.point.values, row.point.feasible);
      cells.push_back(quantity_text(value, metric.unit()));
    }
    if (!measured.empty()) cells.push_back(decibels_text(measured, index));
    cells.push_back(knee_cell(row.knee));
    cells.push_back(neighbour_text(front, row));
    rows.push_back(std::move(cells));
  }
  print_heading(std::cout,
                fmt::format("Sweep {} of {}: {} points, {} feasible; the Pareto front:", sweep.row.id,
                            printable(sweep.row.model), count_text(sweep.row.done), count_text(sweep.row.feasible)),
                colour_out());
  if (front.rows.empty())
    std::cout << "  " << printable(empty_front_text(store, sweep)) << "\n";
  else
    print_table(std::cout, columns, rows, colour_out());
  if (!sweep.spec.formats.empty()) std::cout << "\nLayers in formats of their own:\n";
  for (const FormatRule& rule : parse_formats(sweep.spec.formats, "/formats"))
    std::cout << "  " << printable(format_rule_text(rule)) << "\n";
  print_validation(validation);
}

void export_sweep_points(const Store& store, SweepRecord sweep, const std::string& file, NewFile* target) {
  const ExportFormat format = export_format_of(file);
  const ExportQuery query = export_query(store, sweep, format, "", false, "--export");
  export_to(store, sweep, query,
            manifest_json(store, sweep, query, fmt::format("sdip sweep {} --export {}", sweep.row.model, file)),
            target, file, has_manifest_beside(format, target));
}

/// Runs what is missing, of the part alone where there is one; true: interrupted, and how to go on is said.
bool evaluate_missing(Store& store, const Catalog& catalog, std::int64_t id, const SweepArguments& arguments,
                      const std::optional<IndexRange>& part) {
  const SweepRow before = store.sweep(id);
  std::cerr << "sweep " << id << " of " << printable(before.model) << ": " << count_text(before.total) << " points"
            << (before.done > 0 ? ", " + count_text(before.done) + " of them stored already" : "");
  if (before.origin) std::cerr << ", made of sweep " << before.origin->parent;
  std::cerr << std::endl;
  ProgressLine line(before.total);
  Pace last{before.done};
  RunOptions options;
  options.threads = threads_here();
  options.cancel = &interrupts();
  options.on_batch = [&](const Pace& pace) { line.show(last = pace, false); };
  if (part) options.part = {*part};
  const bool cancelled = run_sweep(store, catalog, id, options);
  line.show(last, true);
  if (const std::int64_t taken = store.sweep(id).taken; taken > 0)
    std::cerr << count_text(taken) << " points were taken over" << std::endl;
  if (!cancelled) return false;
  store.set_state(id, SweepState::cancelled);
  std::string again;
  if (part)
    again = "; go on with the same command";
  else if (!arguments.data.empty())
    again = fmt::format("; go on with: sdip sweep --data {} --resume {}", printable(arguments.data), id);
  std::cerr << "sdip: cancelled" << again << std::endl;
  return true;
}

void throw_problem(const SweepRow& row) {
  if (row.error) throw Error(row.error->code, row.error->where, row.error->message);
}

/// The sweep of which a part is wanted: found again by its spec, so that a job that was killed can be run again.
std::int64_t sweep_of_part(Store& store, const Catalog& catalog, const SweepSpec& spec) {
  const auto known = sweep_of_spec(store, json_text(spec_json(spec)));
  if (!known) return add_sweep(store, catalog, spec);
  if (known->state != SweepState::queued && known->state != SweepState::done) queue_again(store, known->id);
  return known->id;
}

int run_part(const SweepArguments& arguments) {
  const WorkPart part = work_part(arguments.part, "--part");
  if (arguments.data.empty()) throw Error("value_invalid", "--part", "needs --data, a folder for this part");
  if (arguments.resume || !arguments.export_file.empty() || arguments.accuracy_seconds > 0)
    throw Error("value_conflict", "--part",
                "a part has no front; expected no --resume, --export or --accuracy-seconds: merge the parts first");
  const DataFolder data(arguments.data);
  Store store(store_file(data.path()).string());
  Catalog catalog(
      UploadedModels{&store, data.path(), this_program, operators_in(data.path(), arguments.files.operators)});
  const SweepSpec spec = said_spec(arguments, body_of(catalog, data.path(), arguments));
  const std::int64_t id = sweep_of_part(store, catalog, spec);
  const IndexRange range = range_of(part, store.sweep(id).total);
  if (store.sweep(id).state == SweepState::queued && evaluate_missing(store, catalog, id, arguments, range))
    return exit_cancelled;
  const SweepRow row = store.sweep(id);
  throw_problem(row);
  if (arguments.json)
    print_json({{"sweep", sweep_json(row, std::nullopt)}, {"part", {{"first", range.first}, {"end", range.end}}}});
  else
    std::cout << "Part " << part.part << " of " << part.parts << " of sweep " << id << ": "
              << count_text(range.end - range.first) << " points; the folder has " << count_text(row.done) << " of "
              << count_text(row.total) << ", " << count_text(row.feasible) << " feasible\n";
  return exit_ok;
}

int run_stored_sweep(const SweepArguments& arguments) {
  if (arguments.model.empty() && arguments.spec_file.empty() && !arguments.resume && !asked_revision(arguments))
    throw Error("value_invalid", "MODEL",
                "expected a model, --spec, --resume or a revision (--clone, --extend, ...)");
  if (!arguments.part.empty()) return run_part(arguments);
  const std::string& file = arguments.export_file;
  const std::unique_ptr<NewFile> target =
      file.empty() ? nullptr : export_target(file, export_format_of(file), "--export");
  const DataFolder data(arguments.data);
  Store store(store_file(data.path()).string());
  Catalog catalog(
      UploadedModels{&store, data.path(), this_program, operators_in(data.path(), arguments.files.operators)});
  const std::int64_t id = start_or_resume(store, catalog, data.path(), arguments);
  if (evaluate_missing(store, catalog, id, arguments, std::nullopt)) return exit_cancelled;
  const SweepRecord sweep = sweep_record(store, id);
  throw_problem(sweep.row);
  if (arguments.accuracy_seconds > 0)
    measure_front(store, catalog, id, arguments.accuracy_seconds, [] { return !interrupts(); });
  if (!file.empty()) export_sweep_points(store, sweep, file, target.get());
  print_front(store, sweep, validated_front(store, catalog, sweep, arguments.validate_seconds), arguments.json);
  return exit_ok;
}

int run_sweep_command(const SweepArguments& arguments) {
  try {
    return run_stored_sweep(arguments);
  } catch (const Error& error) {
    throw told_by_file(error, arguments.formats_file);
  }
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  const auto [sweep, a] = add_command<SweepArguments>(
      app, action, "sweep", "Many machines for one model, and the best of them", run_sweep_command);
  sweep.add_option("MODEL", a.model,
                   "A built-in model, an uploaded one of --data, an ONNX file, or a mix (sd15:3+sdxl)");
  add_machine_options(sweep, a.machine);
  add_file_options(sweep, a.files);
  add_several(sweep, "--axis", a.axes,
              "key=v,v,... or key=min:max:*factor or key=min:max:step, and behind it ' when dies > 1'; several, or "
              "repeated; none: a first look over "
              "six");
  add_link_option(sweep, a.links);
  add_formats_option(sweep, a.formats_file);
  sweep.add_option("--sampling", a.sampling,
                   "grid, random, latin_hypercube or sobol (docs/api.md#samplings); grid when not given");
  sweep.add_option("--count", a.count, "Points to draw (all but grid)");
  sweep.add_option("--seed", a.seed, "Seed (all but grid)")->check(seed_problem);
  add_formula_option(sweep, a.metrics);
  add_several(sweep, "--objectives", a.objectives,
              "Metrics of the Pareto front, comma separated; max:NAME or min:NAME says what is better")
      ->delimiter(',');
  add_several(sweep, "--constraint", a.constraints,
              "What a point of the front must keep: a condition, as 'area_mm2 <= 100'; repeated");
  sweep.add_option("--spec", a.spec_file, "A JSON file as POST /sweeps takes it");
  sweep.add_option("--data", a.data, "Folder to keep the sweep in");
  sweep.add_option("--name", a.name, "A name for people");
  sweep.add_option("--resume", a.resume, "Evaluate what this sweep of --data still misses");
  sweep.add_option("--clone", a.clone, "A new sweep of --data with the settings and points of this one");
  sweep.add_option("--extend", a.extend,
                   "... with more values by --axis, or as many points more of a drawn sample by --count");
  sweep.add_option("--narrow", a.narrow, "... with some values alone by --axis, or a --constraint more");
  sweep.add_option("--retry", a.retry, "... with its infeasible and missing points evaluated again");
  sweep.add_option(
      "--part", a.part,
      "K/N: only the K-th of N parts, into --data; run again, what is missing; `sdip merge` joins parts");
  sweep
      .add_option(
          "--validate-seconds", a.validate_seconds,
          "Time in which the front is validated: estimate against executor (`sdip validate`); 0: not at all")
      ->check(CLI::Range(std::int64_t{0}, most_validation_seconds))
      ->capture_default_str();
  sweep.add_option(
      "--export", a.export_file,
      "Write every point to this .csv, .ndjson, .json, .md, .tex or .sqlite file, and FILE.manifest.json beside "
      "the first two");
  sweep
      .add_option("--accuracy-seconds", a.accuracy_seconds,
                  "Measure the accuracy of the front for so long at most (columns sqnr_db, cosine)")
      ->check(CLI::NonNegativeNumber)
      ->check([](const std::string& text) {
        return std::isnan(std::strtod(text.c_str(), nullptr)) ? "expected a number" : "";
      });
  sweep.add_flag("--json", a.json, "JSON instead of a table");
}

}  // namespace sdip
