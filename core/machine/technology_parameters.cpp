// The rows of the technology table as parameters of a machine.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/machine.h"
#include "core/machine/technology.h"

namespace sdip {
namespace {

constexpr double widest = 1000;          // times the table's figure, and under it
constexpr double most_over_n45 = 0.5;    // of 7 nm: other nodes' figures are powers of it, and 1 has none
constexpr double least_multiplexer = 2;  // inputs

struct Ends {
  double least, most;
};

Ends ends_of(const TechnologyRow& row) {
  if (row.name == "fefet.array") return {row.value, row.value};  // converters and counts are made for it
  Ends ends{row.value / widest, row.value * widest};
  if (row.name.starts_with("n7.") && row.name.ends_with(".over_n45")) ends.most = most_over_n45;
  if (row.unit == "clusters") ends = {row.value / 30, row.value * 30};  // a power
  if (row.unit == "inputs") ends.least = least_multiplexer;
  // Powers and exponentials of these: within what they can be made of, and supplies few.
  if (row.unit == "V" || row.unit == "power") ends = {row.value / 2, row.value * 2};
  if (row.unit == "C") ends = {row.value / 10, row.value * 2};
  if (row.unit == "1/V" || row.unit == "1/K") ends = {row.value / 10, row.value * 2};
  return ends;
}

std::int64_t coded(double value) { return std::bit_cast<std::int64_t>(value); }

template <std::size_t Place>
std::int64_t read_row(const Machine& machine) {
  const auto own = machine.technology.figures();
  const auto found = std::ranges::find(own, Place, &OwnFigure::row);
  return coded(found != own.end() ? found->value : technology_rows()[Place].value);
}

template <std::size_t Place>
void write_row(Machine& machine, std::int64_t value) {
  machine.technology.set({Place, std::bit_cast<double>(value)});
}

template <std::size_t... Places>
std::vector<ParameterRow> rows_of(const std::vector<std::string>& names, std::index_sequence<Places...>) {
  const auto row = [&](std::size_t place, auto* read, auto* write) {
    const TechnologyRow& figure = technology_rows()[place];
    const Ends ends = ends_of(figure);
    return ParameterRow{names[place],
                        ParameterType::real,
                        "technology",
                        figure.unit,
                        coded(figure.value),
                        coded(ends.least),
                        coded(ends.most),
                        {},
                        figure.source,
                        figure.source,
                        read,
                        write,
                        ParameterEffect::chip,
                        ChangeKind::assumption};
  };
  return {row(Places, &read_row<Places>, &write_row<Places>)...};
}

}  // namespace

std::span<const ParameterRow> technology_parameters() {
  static const auto names = [] {
    std::vector<std::string> made;
    for (const TechnologyRow& row : technology_rows())
      made.push_back(std::string(technology_prefix) + std::string(row.name));
    return made;
  }();
  static const auto rows = rows_of(names, std::make_index_sequence<technology_row_count>());
  return rows;
}

}  // namespace sdip
