// SDIP machines beside published ones on the same frames.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/baseline/device_run.h"
#include "core/study/said_formats.h"
#include "server/json/report_json.h"
#include "server/models/catalog.h"
#include "server/models/request.h"

namespace sdip {

/// A machine of ours and what it is called in the table.
struct NamedMachine {
  std::string id, name;
  Machine machine;  // checked
};

struct ComparisonAsked {
  std::string model;
  std::vector<NamedMachine> machines;  // the first is the one that others are compared with
  std::vector<const Device*> devices{};
  std::vector<std::int64_t> batches = {1, 8};
  SaidFormats formats{};                 // of single layers, of our machines
  std::optional<TechnologyNode> node{};  // that all are drawn in; nothing: each in its own
};

/// Adds a preset beside the first machine, for frames as that makes them, unless it is that.
void add_preset(ComparisonAsked& asked, const Preset& preset);

/// The machine asked for, presets beside it, and devices: those named, and the request's own, which outlives this.
ComparisonAsked comparison_asked(const PointRequest& request);

/// model: ours, estimated. device: a model of its kind of machine. measured: a published result of exactly these
/// frames. roofline: the least time of any schedule, ours too. unpublished: peak or bandwidth are not known, so
/// there are no values.
enum class RowKind { model, device, measured, roofline, unpublished };
std::string_view row_kind_text(RowKind kind);

/// How far the time of a cell is checked by what was measured. here: these very frames, with software that
/// compiles, on that device; near: that device, on other frames or batches of the model, or, of a diffusion
/// pipeline, of another one; unvalidated: neither, ours among them, which nobody has built. no: a row that predicts
/// nothing.
enum class Checked { no, here, near, unvalidated };
std::string_view checked_text(Checked checked);

/// The basis of a machine's area: ours by the model; a published die; one drawn anew in the process that all are
/// drawn in; the area that its lanes take by the table, which is not shown, and estimates the energy alone; or
/// none.
enum class AreaBasis { unknown, modelled, published, drawn, lanes };
std::string_view area_basis_text(AreaBasis basis);

/// Units and words of compared values that are no metrics.
inline constexpr FieldInfo compared_values[] = {
    {"design_energy_j_per_frame", {"J", "design power × time", "設計電力×時間"}},
    {"dram_filled", {"", "weights of DRAM", "重み/DRAM容量"}}};
/// "x" of a ratio.
std::string_view compared_unit(std::string_view value);
/// Nothing where there is none, or it is no number.
std::optional<double> compared_value(const NamedFigures& values, std::string_view name);

/// The prediction times the factor of a software of the device: of several the fastest.
struct Calibration {
  std::string software;
  double factor = 1;
  NamedFigures values{};  // those that the time moves
};

struct ComparisonRow {
#define FIELD(type, name, unit, en, ja) type name{};
#include "server/studies/comparison_fields.def"
#undef FIELD
  const Device* device = nullptr;
  std::optional<double> value(std::string_view metric) const { return compared_value(values, metric); }
  /// Calibrated where it can be.
  std::optional<double> likely(std::string_view metric) const;
};

/// A batch of ours, and no stream of it.
bool is_own_machine(const ComparisonRow& row);

/// A row for each machine and device at each batch, and for each saturated stream and bound of ours and measured
/// result of the same frames. A batch of ours is so many frames and no more, as a device's is. Like beside like:
/// what is modelled, machines of ours first; measured; bounds; unpublished. Throws what compiling throws.
std::vector<ComparisonRow> comparison_rows(const Catalog& catalog, const ComparisonAsked& asked,
                                           const Stop& stop = {});

/// A case where a device does better than a machine of ours at the same batch: a prediction, calibrated where it
/// can be, than our model, a bound than our bound.
struct Loss {
  std::string ours, ours_name;  // of the machine's row
  std::int64_t batch = 1;
  std::string metric;
  std::string id, name;  // of its row
  RowKind kind = RowKind::device;
  bool calibrated = false;
  bool estimated = false;              // an energy of the area that its lanes take
  Checked checked = Checked::no;       // of its row
  std::string format{}, our_format{};  // where they differ it is no like for like
  double times = 1;                    // above 1
};
/// An aim that a comparison asks of a machine, and whether more of it is better.
struct ComparedAim {
  std::string_view metric;
  bool more;
};
inline constexpr ComparedAim compared_aims[] = {
    {"latency_s", false}, {"throughput_fps", true}, {"frames_per_j", true}, {"fps_per_mm2", true}};
/// Losses by machine of ours, by batch, then by aim, the largest first. Requires rows of comparison_rows().
std::vector<Loss> losses_of(std::span<const ComparisonRow> rows);

/// The sentence of a comparison in one process that says how it was scaled.
std::string process_text(TechnologyNode node);

/// A text that figures of a row are taken from, and their names: "die_mm2, clock_mhz".
struct ComparisonSource {
  std::string source, figures;
};
/// Each source of a device's row once; none of ours.
std::vector<ComparisonSource> sources_of(const ComparisonRow& row);

/// The measurements of built-in models on a device, beside its model. For a device of this program they are worked
/// out once.
std::vector<Compared> measured_beside_model(const Device& device, const Stop& stop = {});

/// What people are told of a row's fields, of its values and of what was measured.
std::vector<FieldRecord> comparison_fields();
/// The schemas of a comparison and its parts.
void add_comparison_schemas(OrderedJson& schemas);
OrderedJson comparison_json(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop = {});

}  // namespace sdip
