// SDIP machines beside published ones on the same frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/baseline/device_run.h"
#include "server/io/said_formats.h"
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
  SaidFormats formats{};  // of single layers, of our machines
};

/// The machine asked for, presets beside it, and devices: those named, and the request's own, which outlives this.
ComparisonAsked comparison_asked(const PointRequest& request);

/// model: ours, estimated. device: a model of its kind of machine. roofline: the least time of any schedule.
/// unpublished: peak or bandwidth are not known, so there are no values.
enum class RowKind { model, device, roofline, unpublished };
std::string_view row_kind_text(RowKind kind);

struct ComparisonRow {
  std::string id, name;
  RowKind kind = RowKind::model;
  std::int64_t batch = 1;
  std::string format{};                                  // of activations and weights
  std::string energy{};                                  // what its energy is of; empty: there is none
  std::vector<std::pair<std::string, double>> values{};  // by names of metrics
  std::vector<DeviceStage> stages{};                     // of devices
  double compute_s = 0, memory_s = 0;                    // of the batch; devices alone
  std::vector<DeviceField> fields{};
  std::vector<std::string> notes{};
  const Device* device = nullptr;
  std::optional<double> value(std::string_view metric) const;
};

/// A row for each machine and device, at each batch: machines first. Throws what compiling throws.
std::vector<ComparisonRow> comparison_rows(const Catalog& catalog, const ComparisonAsked& asked,
                                           const Stop& stop = {});

/// The frame's stages as any device has to run them: guidance as a batch of two.
std::vector<LayeredStage> layered_work(const Catalog& catalog, const std::string& model, Machine machine);

/// What was measured on a device, of built-in models, beside its model. Of a device of this program it is worked
/// out once.
std::vector<Compared> measured_beside_model(const Device& device, const Stop& stop = {});

OrderedJson comparison_json(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop = {});

}  // namespace sdip
