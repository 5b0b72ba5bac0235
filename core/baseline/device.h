// Published machines as data: one JSON file each in core/baseline/devices, or a user's own (docs/formats.md).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdip {

/// A published figure, as it is to be shown. `confidence`: primary, secondary, derived, unverified, seed or
/// assumption (ours: the source says why). The source of an unverified figure is never cited: `source` then says
/// "unverified, commonly quoted".
struct DeviceField {
  std::string name, value, unit, source, confidence;
};

/// A figure that a model of the machine reads, by its key (docs/model/devices.md).
struct DeviceFigure {
  std::string key;
  double value = 0;
  std::string unit, source, confidence;
};

/// What was measured on a machine. `metric`: images_per_s of all `chips`, batch_latency_s, or step_s, of a
/// diffusion step of the batch; `stage`: all, or the one stage of the pipeline that was timed.
struct Measurement {
  std::string id, software, model, stage;
  std::int64_t resolution = 512, steps = 1;
  bool guidance = true;
  std::optional<std::int64_t> batch;  // nothing: not published
  std::int64_t chips = 1;
  std::string format, metric;
  double value = 0;
  std::string unit, source, confidence, note;
};

/// Layer by layer, as a framework without a compiler runs them: its software says so.
bool is_eager(const Measurement& measurement);

/// How a machine works, and so which model it has. roofline: its inside is not public, or no model is of its kind.
enum class Archetype { systolic, simd_tree, simt, tiles, cube, row_stationary, cpu, roofline };
std::string_view archetype_text(Archetype archetype);

struct Device {
  std::string id, name;
  Archetype archetype = Archetype::roofline;
  double peak_flops = 0;        // operations a second in the native format, dense; 0: not published
  double dram_bytes_per_s = 0;  // 0: not published
  std::string native_format;    // the format that the peak is of
  std::vector<DeviceFigure> figures = {};
  std::vector<DeviceField> fields = {};  // peak and bandwidth first, where published
  std::vector<Measurement> measured = {};
  std::vector<std::string> notes = {};
};
/// The figure of that key, in its unit.
std::optional<double> figure_of(const Device& device, std::string_view key);
/// Bytes of an element of a format; 0 where it is not known.
double bytes_of_format(std::string_view format);
/// Bytes of an element in the device's native format.
double bytes_per_element(const Device& device);

/// A device of the text of a file. Throws Error("device_invalid", where, ...) naming the member.
Device read_device(std::string_view text, const std::string& where);
Device device_from_json(const nlohmann::json& object, const std::string& where);

/// Throws Error("value_out_of_range", where, ...) for a value that the figure of that key cannot have in a file.
void require_figure_value(std::string_view key, double value, const std::string& where);

/// Throws as they do where the last has the id of one before it, or of one of this program.
void require_own_id(std::span<const Device> own, const std::string& where);

/// Those of this program, in order of id.
std::span<const Device> devices();
/// The device of that id, or nullptr.
const Device* find_device(std::string_view id);

}  // namespace sdip
