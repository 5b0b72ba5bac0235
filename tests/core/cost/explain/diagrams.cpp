// Reads the timing diagrams of docs/model/diagrams.md.
#include "tests/core/cost/explain/diagrams.h"
#include "tests/core/channel.h"

#include <sstream>
#include <stdexcept>

namespace sdip {
namespace {

using Words = std::map<std::string, std::string>;

/// "a=1 b=2" as a map; a word without "=" is a key without a value.
Words words_of(std::istream& line) {
  Words words;
  for (std::string word; line >> word;) {
    const auto equals = word.find('=');
    words[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  return words;
}

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("diagram: " + what); }

/// Takes a number out of the words.
std::int64_t taken(Words& words, const std::string& key, std::int64_t otherwise) {
  const auto found = words.find(key);
  if (found == words.end()) return otherwise;
  const std::int64_t number = std::stoll(found->second);
  words.erase(found);
  return number;
}

std::string taken_text(Words& words, const std::string& key) {
  const auto found = words.find(key);
  if (found == words.end()) return "";
  std::string text = found->second;
  words.erase(found);
  return text;
}

std::int64_t hundredths(const std::string& text) { return static_cast<std::int64_t>(std::stod(text) * 100 + 0.5); }

/// The machine that a diagram changes: everything one wide, but ports that hold any fold; a byte of DRAM a cycle.
Machine plain_machine() {
  Machine m;
  for (std::int64_t* lanes :
       {&m.conv_lanes_in, &m.conv_lanes_out, &m.conv_lanes_pixel, &m.linear_lanes_m, &m.linear_lanes_n,
        &m.linear_lanes_k, &m.matmul_lanes_m, &m.matmul_lanes_n, &m.matmul_lanes_k, &m.vector_lanes,
        &m.softmax_lanes, &m.norm_lanes, &m.transpose_lanes})
    *lanes = 1;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  set_channel(m, 8, 50), m.dram_efficiency = Decimal{100};
  m.dram_burst_bytes = 1;
  m.dispatch_cycles = m.pipeline_stages = 1;
  m.dma_port = DmaPort::own;
  return m;
}

void read_machine(Diagram& d, Words words) {
  d.cores = d.machine.cores = taken(words, "cores", d.cores);
  d.pass = taken(words, "pass", d.pass);
  if (const std::string rate = taken_text(words, "dram_bytes_per_cycle"); !rate.empty())
    d.dram_bytes_hundredths = hundredths(rate);
  for (const auto& [key, text] : words) {
    const ParameterRow* row = find_parameter(key);
    if (row == nullptr) fail("no parameter " + key);
    std::int64_t value = 0;
    if (row->type == ParameterType::choice) {
      while (row->choices[static_cast<std::size_t>(value)] != text)
        if (++value == std::ssize(row->choices)) fail(key + " has no " + text);
    } else {
      value = row->type == ParameterType::decimal ? hundredths(text) : std::stoll(text);
    }
    row->write(d.machine, value);  // smaller than a user may ask for
  }
  const std::int64_t latency = d.machine.dram_latency_ns, turn = d.machine.dram_turn_ns;
  set_bytes_per_cycle(d.machine, d.dram_bytes_hundredths);
  d.machine.dram_latency_ns = latency, d.machine.dram_turn_ns = turn;
}

Family family_of(const std::string& text) {
  for (std::size_t i = 0; i < pair_families; ++i)
    if (family_text(static_cast<Family>(i)) == text) return static_cast<Family>(i);
  fail("no family " + text);
}

Place place_of(const std::string& text) {
  for (const Place place : {Place::dsram, Place::stackram, Place::dram, Place::psram})
    if (place_text(place) == text) return place;
  fail("no place " + text);
}

LoopNest read_nest(Words& words) {
  LoopNest n;
  n.out_h = taken(words, "rows", 1);
  n.in_h = taken(words, "rows_in", n.out_h);
  n.in_channels = taken(words, "sums", 1);
  n.out_channels = taken(words, "channels", 1);
  n.kernel_h = taken(words, "kernel", 1);
  n.pad_top = n.pad_bottom = n.kernel_h / 2;
  return n;
}

void read_results(Words& words, InstructionClass& c) {
  std::istringstream places(taken_text(words, "to"));
  c.to_dsram = false;
  for (std::string place; std::getline(places, place, '+');) {
    c.to_dsram |= place == "dsram";
    c.to_dram |= place == "dram";
    c.push |= place == "stackram";
  }
}

void read_product(Words& words, InstructionClass& c) {
  LoopNest& n = c.work.nest = read_nest(words);
  c.operand_a = place_of(taken_text(words, "a"));
  c.operand_b = place_of(taken_text(words, "b"));
  c.mapping = {taken(words, "tile_rows", n.out_h), 1, taken(words, "tile_channels", n.out_channels),
               taken(words, "tile_sums", n.in_channels), channels_outermost};
  if (taken_text(words, "order") == "sums-outermost")
    c.mapping.order = {Loop::sums, Loop::rows, Loop::columns, Loop::channels};
  c.out_elements = n.out_h * n.out_channels;
  if (c.operand_b == Place::psram) c.weight_elements_per_channel = n.in_channels * n.kernel_h;
}

void read_rowwise(Words& words, InstructionClass& c) {
  c.work.rows = taken(words, "rows", 1);
  c.work.row_length = taken(words, "length", 1);
  c.work.passes = taken(words, "passes", 1);
  c.mapping = {c.work.rows, 1, taken(words, "chunk", c.work.row_length), 1};
  c.out_elements = c.work.rows * c.work.row_length;
  Fetch fetch;
  fetch.place = place_of(taken_text(words, "a"));
  fetch.elements = c.out_elements;
  fetch.passes = c.work.passes;
  fetch.per_fold = true;
  c.fetches.push_back(fetch);
}

void read_attention(Words& words, InstructionClass& c) {
  c.compound = Compound::attention;
  c.work.family = Family::matmul;
  LoopNest& scores = c.work.nest;
  scores.groups = taken(words, "heads", 1);
  scores.out_h = scores.in_h = taken(words, "rows", 1);
  scores.out_channels = taken(words, "keys", 1);
  scores.in_channels = taken(words, "depth", 1);
  c.work.element_cycles = taken(words, "element_cycles", 1);
  c.parts.resize(3);
  c.parts[2].work = c.work;
  c.parts[2].work.nest.in_channels = scores.out_channels;
  c.parts[2].work.nest.out_channels = taken(words, "values", 1);
  c.operand_a = place_of(taken_text(words, "q"));
  c.operand_b = place_of(taken_text(words, "k"));
  c.parts[2].operand_b = place_of(taken_text(words, "v"));
  c.mapping = {taken(words, "tile_rows", scores.out_h), 1, taken(words, "tile_keys", scores.out_channels),
               scores.in_channels, rows_outermost};
  c.out_elements = scores.groups * scores.out_h * c.parts[2].work.nest.out_channels;
}

/// "conv2d:kernel=3" twice is two such parts, one behind the other.
void read_strips(Words& words, InstructionClass& c) {
  c.compound = Compound::strips;
  c.work.family = Family::conv2d;
  c.line_buffers = taken_text(words, "keeping") == "line_buffers";
  c.operand_a = place_of(taken_text(words, "a"));
  c.operand_b = Place::psram;
  const std::int64_t parts = taken(words, "convolutions", 1);
  LoopNest& n = c.work.nest = read_nest(words);
  for (std::int64_t i = 0; i < parts; ++i) {
    Part part;
    part.work = c.work;
    part.operand_b = Place::psram;
    part.weight_elements_per_channel = n.in_channels * n.kernel_h;
    part.out_elements = n.out_h * n.out_channels;
    c.parts.push_back(part);
  }
  c.mapping = {taken(words, "tile_rows", n.out_h), 1, n.out_channels, n.in_channels, rows_outermost};
  c.out_elements = n.out_h * n.out_channels;
}

void read_instruction(Diagram& d, const std::string& kind, Words words) {
  Instruction instruction;
  instruction.words = taken(words, "words", least_instruction_words);
  std::istringstream after(taken_text(words, "after"));
  for (std::string one; std::getline(after, one, ',');) instruction.after.push_back(std::stoi(one));
  instruction.instruction_class = static_cast<std::int32_t>(d.program.classes.size());
  InstructionClass c;
  read_results(words, c);
  if (kind == "attention") {
    read_attention(words, c);
  } else if (kind == "strips") {
    read_strips(words, c);
  } else {
    c.work.family = family_of(kind);
    const bool product = words.contains("b");
    product ? read_product(words, c) : read_rowwise(words, c);
  }
  if (const std::int64_t held = taken(words, "held", 0); held > 0) {
    c.weight_elements = held;
    Fetch fetch;
    fetch.place = Place::psram;
    fetch.elements = held;
    c.fetches.push_back(fetch);
  }
  if (!words.empty()) fail(kind + " has no " + words.begin()->first);
  d.program.classes.push_back(c);
  d.program.instructions.push_back(instruction);
}

}  // namespace

std::vector<Diagram> diagrams_in(const std::string& text) {
  std::vector<Diagram> diagrams;
  std::istringstream lines(text);
  bool open = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    diagram ")) {
      diagrams.push_back({line.substr(12), plain_machine(), {}, 1, 1, 100, {}});
      open = true;
      continue;
    }
    open = open && line.starts_with("    ");
    if (!open) continue;
    Diagram& d = diagrams.back();
    std::istringstream rest(line);
    std::string first, second;
    rest >> first;
    if (const auto bar = line.find('|'); bar != std::string::npos) {
      d.lanes[first] = line.substr(bar + 1);
    } else if (first == "machine") {
      read_machine(d, words_of(rest));
    } else if (first == "i" + std::to_string(d.program.instructions.size())) {
      rest >> second;
      read_instruction(d, second, words_of(rest));
    } else if (first != "cycle") {
      fail("cannot read: " + line);
    }
  }
  return diagrams;
}

}  // namespace sdip
