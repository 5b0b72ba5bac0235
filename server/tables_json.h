// The tables of the product as JSON: parameters, metrics, presets, baseline devices.
#pragma once

#include "core/baseline/roofline.h"
#include "core/cost/estimate.h"
#include "core/machine/machine.h"
#include "server/json_in.h"

namespace sdip {

OrderedJson parameters_json();
OrderedJson metrics_json();
OrderedJson presets_json();
OrderedJson baselines_json();

/// [{"name","value","unit","source","confidence"}]
OrderedJson device_fields_json(const Device& device);

std::string_view type_text(ParameterType type);
std::string_view better_text(Better better);

}  // namespace sdip
