// The tables of the product as JSON: parameters, metrics, presets, baseline devices.
#pragma once

#include "core/baseline/chips.h"
#include "core/baseline/device.h"
#include "core/cost/price/estimate.h"
#include "core/machine/machine.h"
#include "core/machine/technology.h"
#include "server/json/record.h"

namespace sdip {

OrderedJson parameters_json();
/// Rows that a node's or a part's figures are made of; all where none is named. Throws Error value_invalid at
/// `where`.
std::vector<const TechnologyRow*> rows_of_node(const std::string& node, const std::string& where);
OrderedJson technology_json(const std::vector<const TechnologyRow*>& rows);
OrderedJson metrics_json();
/// Figures of a stage, of an instruction and of `more`, with what people are told of them.
OrderedJson fields_json(std::vector<FieldRecord> more);
OrderedJson presets_json();
OrderedJson baselines_json();
/// Published chips: what is predicted of each, and the figures that it is described by.
OrderedJson chips_json(const std::vector<ChipPrediction>& predictions);

/// The schemas of the rows of these, but of chips.
void add_table_schemas(OrderedJson& schemas);
template <>
Record<DeviceField> make_record();
template <>
Record<FieldInfo> make_record();
template <>
Record<FieldRecord> make_record();

std::string_view type_text(ParameterType type);
std::string_view better_text(Better better);

}  // namespace sdip
