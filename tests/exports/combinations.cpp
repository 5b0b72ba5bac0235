// Exported graphs on drawn machines.
#include "tests/exports/combinations.h"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/error.h"
#include "tests/exports/book.h"
#include "tests/generate/census.h"
#include "tests/generate/machines.h"

namespace sdip::exports {
namespace {

std::string unpacked(const std::string& path) {
  const gzFile file = ::gzopen(path.c_str(), "rb");  // which reads what is not packed, too
  if (file == nullptr) throw std::runtime_error("no file " + path);
  std::string bytes, piece(1 << 16, '\0');
  for (int count; (count = ::gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0;)
    bytes.append(piece, 0, static_cast<std::size_t>(count));
  ::gzclose(file);
  return bytes;
}

/// Indices, lengths and steps are what integers are in files of others: small. Only the sizes that it names are
/// drawn.
Generated read_file(const std::string& path, const std::map<std::string, std::int64_t>& dims) {
  Generated given;
  if (!given.model.ParseFromString(unpacked(path))) throw std::runtime_error("no model " + path);
  for (const auto& input : given.model.graph().input()) {
    const auto& type = input.type().tensor_type();
    for (const auto& dimension : type.shape().dim())
      if (const auto size = dims.find(dimension.dim_param()); size != dims.end()) given.dims.insert(*size);
    if (type.elem_type() == onnx::TensorProto::INT64 || type.elem_type() == onnx::TensorProto::INT32)
      given.ranges[input.name()] = {0, 4};
  }
  return given;
}

/// A value of a row as somebody would try one: any choice; of numbers the least, or twice or half the standard one,
/// again and again; of bytes few of them.
std::int64_t tried_value(Draw& draw, const ParameterRow& row) {
  if (row.type == ParameterType::choice || row.most - row.least < 16) return draw.between(row.least, row.most);
  if (draw.one_in(6)) return std::max<std::int64_t>(row.least, 1);
  const bool bytes = row.unit == "B" && !row.name.ends_with("_bytes_per_cycle");
  std::int64_t value = bytes && draw.one_in(2) ? std::int64_t{64} << draw.between(0, 8) : row.standard;
  for (std::int64_t i = draw.between(0, 4); i > 0; --i) value = draw.one_in(3) ? value * 2 : value / 2;
  return std::clamp(value + (draw.one_in(4) ? 1 : 0), row.least, row.most);
}

/// Whether the command would take the value, alone and beside the others.
bool is_taken(const ParameterRow& row, std::int64_t value, const Machine& machine) {
  try {
    parse_value(row, value_text(row, value), "");
    check_machine(machine);
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// A preset with some `--set`s.
Machine tried_machine(std::uint64_t seed) {
  Draw draw(seed ^ 0x7e57);
  const auto all = diffusion_presets();
  Machine machine = all[static_cast<std::size_t>(draw.between(0, std::ssize(all) - 1))].machine;
  for (std::int64_t i = draw.between(0, 12); i > 0; --i) {
    const auto& row = parameters()[static_cast<std::size_t>(draw.between(0, std::ssize(parameters()) - 1))];
    Machine other = machine;
    const std::int64_t value = tried_value(draw, row);
    row.write(other, value);
    if (is_taken(row, value, other)) machine = other;
  }
  return machine;
}

}  // namespace

Machine machine_of(std::uint64_t seed) {
  return seed / 2 % 2 == 0 ? tried_machine(seed) : generate::drawn_machine(seed);
}

Graphs book_graphs(const std::string& only) {
  Graphs graphs;
  for (const Export& row : exports())
    if (name_of(row).find(only) != std::string::npos) graphs.names.push_back(name_of(row));
  return graphs;
}

const std::string& name_of_seed(const Graphs& graphs, std::uint64_t seed) {
  return graphs.names.at(seed % graphs.names.size());
}

Generated graph_of(const Graphs& graphs, std::uint64_t seed) {
  const std::string& name = name_of_seed(graphs, seed);
  if (graphs.files) return read_file(name, graphs.dims);
  for (const Export& row : exports())
    if (name_of(row) == name) return made(row, seed);
  throw std::runtime_error("no graph " + name);
}

generate::Checked check_combination(const Graphs& graphs, std::uint64_t seed,
                                    const generate::PhaseObserver& phase) {
  Machine machine = machine_of(seed);
  return {seed, generate::check_model(graph_of(graphs, seed), machine, seed, phase), {name_of_seed(graphs, seed)}};
}

bool is_listed(const generate::Outcome& outcome) {
  if (outcome.verdict == generate::Verdict::finding) return generate::is_expected(outcome.code);
  static const auto listed = generate::expected_findings("tests/exports/refused.txt");
  const std::string said = outcome.code + ": " + generate::without_names(outcome.detail);
  return std::ranges::any_of(listed, [&](const auto& one) { return said.starts_with(one.first); });
}

}  // namespace sdip::exports
