// Where is more of something worse? Draws small programs and networks on small machines, changes one parameter, and
// shrinks what got slower, or moved more bytes, for having more: build/dev/tests/find_worse dsram_bytes 600 800
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <vector>

#include "core/base/error.h"
#include "tests/core/cost/explain/example.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

struct Question {
  std::string less, more;  // "name=value", or some with commas between
  std::string what;        // "cycles" of a pass, "bytes" through DRAM, "time" of a frame
};

std::optional<Measured> measured(const std::string& text) {
  try {
    const Measured m = measure(text);
    return m.feasible ? std::optional(m) : std::nullopt;
  } catch (const Error&) {
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::string with_settings(std::string text, const std::string& settings) {
  for (const std::string& setting : split(settings, ',')) text = with_setting(text, setting);
  return text;
}

bool worse(const std::string& text, const Question& q) {
  const auto less = measured(with_settings(text, q.less));
  if (!less) return false;
  const auto more = measured(with_settings(text, q.more));
  if (!more) return false;
  if (q.what == "time") return more->frame_ns > 1.000001 * less->frame_ns;
  return q.what == "bytes" ? more->dram_bytes > less->dram_bytes : more->cycles > less->cycles;
}

std::string joined(const std::vector<std::string>& parts, char by) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(1, by)) + part;
  return text;
}

/// Instructions numbered anew.
std::string numbered(std::vector<std::string> lines) {
  int number = 0;
  for (std::string& line : lines)
    if (line[0] == 'i') line = "i" + std::to_string(number++) + line.substr(line.find(' '));
  return joined(lines, '\n') + "\n";
}

/// The text with one thing less: a line, a word, or a number made smaller.
std::vector<std::string> smaller(const std::string& text) {
  std::vector<std::string> all;
  const std::vector<std::string> lines = split(text, '\n');
  for (std::size_t l = 1; l < lines.size() && lines.size() > 2; ++l) {
    std::vector<std::string> fewer = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(l));
    all.push_back(numbered(fewer));
  }
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const bool network = lines[l].starts_with("network");
    const char by = network ? '|' : ' ';
    const std::vector<std::string> words = split(lines[l], by);
    for (std::size_t w = 1; w < words.size(); ++w) {
      std::vector<std::string> fewer = words, changed = lines;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(w));
      changed[l] = joined(fewer, by);
      all.push_back(joined(changed, '\n') + "\n");
    }
    for (std::size_t at = 0; at < lines[l].size(); ++at) {
      const bool begins = std::isdigit(lines[l][at]) != 0 && (at == 0 || std::isdigit(lines[l][at - 1]) == 0);
      if (!begins || lines[l][at == 0 ? 0 : at - 1] == 'i') continue;
      std::size_t length = 0;
      const std::int64_t number = std::stoll(lines[l].substr(at), &length);
      for (const std::int64_t less : {std::int64_t{1}, number / 2, number - 1}) {
        if (less < 1 || less >= number) continue;
        std::vector<std::string> changed = lines;
        changed[l].replace(at, length, std::to_string(less));
        all.push_back(joined(changed, '\n') + "\n");
      }
    }
  }
  return all;
}

std::string shrunk(std::string text, const Question& q) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string& less : smaller(text))
      if (worse(less, q)) {
        text = less;
        again = true;
        break;
      }
  }
  return text;
}

/// Lines, then words, then digits.
std::vector<std::size_t> size_of(const std::string& text) {
  const auto count = [&](auto&& of) { return static_cast<std::size_t>(std::ranges::count_if(text, of)); };
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (std::isdigit(text[at]) != 0 && (at == 0 || std::isdigit(text[at - 1]) == 0))
      sum += std::stoll(text.substr(at));
  return {count([](char c) { return c == '\n' || c == '|'; }), count([](char c) { return c == ' '; }),
          static_cast<std::size_t>(sum)};
}

std::string say(const char* name, std::int64_t value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

std::string drawn_settings(Dice& dice) {
  std::string text = "machine";
  const auto maybe = [&](const char* name, std::int64_t least, std::int64_t most, std::int64_t unit = 1) {
    if (dice.one_in(3)) text += say(name, unit * dice.between(least, most));
  };
  for (const char* lanes :
       {"linear_lanes_m", "linear_lanes_n", "linear_lanes_k", "matmul_lanes_m", "matmul_lanes_n", "matmul_lanes_k",
        "conv_lanes_in", "conv_lanes_out", "conv_lanes_pixel"})
    maybe(lanes, 2, 4);
  for (const char* lanes : {"vector_lanes", "softmax_lanes", "norm_lanes", "transpose_lanes"}) maybe(lanes, 2, 8);
  for (const char* port : {"dsram_port_bits", "stackram_port_bits", "psram_port_bits"}) maybe(port, 1, 4, 8);
  for (const char* cycles : {"dispatch_cycles", "pipeline_stages"}) maybe(cycles, 2, 9);
  maybe("dram_burst_bytes", 2, 8);
  maybe("cores", 2, 3);
  if (dice.one_in(4)) text += " weight_storage=hard_coded";
  if (dice.one_in(4)) text += dice.one_in(2) ? " sequencer=distributed" : " sequencer=host host_command_cycles=5";
  if (dice.one_in(4)) text += dice.one_in(2) ? " granularity=tile" : " granularity=micro";
  if (dice.one_in(4)) text += " weight_buffering=single";
  if (dice.one_in(4)) text += " tile_buffering=single";
  if (dice.one_in(4)) text += dice.one_in(2) ? " dataflow=weight" : " dataflow=input";
  if (dice.one_in(5)) text += " program_storage=streamed" + say("imem_bytes", 64 * dice.between(1, 4));
  text += " dram_bytes_per_cycle=" + std::string(dice.one_of({"0.5", "1", "2", "4"}));
  return text;
}

std::string drawn_program(Dice& dice) {
  std::string text = drawn_settings(dice) + say("psram_bytes", dice.between(1, 24)) + "\n";
  const std::int64_t count = dice.between(1, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    text += "i" + std::to_string(i) + " ";
    const auto place = [&] { return std::string(dice.one_of({"dsram", "stackram", "dram"})); };
    if (dice.one_in(3)) {
      text += std::string(dice.one_of({"vector", "softmax", "norm"})) + say("rows", dice.between(1, 4)) +
              say("length", dice.between(1, 9)) + say("passes", dice.between(1, 3)) + " a=" + place();
    } else {
      const bool weighted = !dice.one_in(4);
      text += weighted ? "linear" : "matmul";
      for (const char* size : {"rows", "sums", "channels"}) text += say(size, dice.between(1, 6));
      for (const char* tile : {"tile_rows", "tile_channels", "tile_sums"})
        if (dice.one_in(2)) text += say(tile, dice.between(1, 3));
      text += " a=" + place() + " b=" + (weighted ? "psram" : place());
    }
    text += " to=" + place();
    if (dice.one_in(3)) text += say("held", dice.between(1, 9));
    if (dice.one_in(3)) text += say("words", dice.between(2, 4));
    text += "\n";
  }
  return text;
}

/// With `branches` operators are not all upon the value before.
std::string drawn_network(Dice& dice, bool branches) {
  std::string text = drawn_settings(dice);
  const std::int64_t channels = dice.between(1, 8), side = dice.between(1, 12), all = channels * side * side;
  text += say("psram_bytes", dice.between(16, 400)) + say("dsram_bytes", dice.between(8, 3 * all + 40)) +
          say("stackram_bytes", dice.between(0, 2 * all));
  for (const char* option : {"fusion=pointwise", "fusion=norm", "transposition=dynamic", "fused_attention=on",
                             "activation_memory=unified", "strips=line_buffers", "stack_discipline=allocator"})
    if (dice.one_in(6)) text += " " + std::string(option);
  text += "\nnetwork " + std::to_string(channels) + "x" + std::to_string(side) + "x" + std::to_string(side);
  const bool attends = dice.one_in(6);
  if (attends) text += " | transpose | matmul 0 | softmax | matmul 1";
  const std::int64_t before = attends ? 4 : 0, count = before + dice.between(1, dice.one_in(3) ? 12 : 6);
  for (std::int64_t i = before; i < count; ++i) {
    if (branches && i > 0 && dice.one_in(3)) text += " | from " + std::to_string(dice.between(0, i - 1));
    const std::int64_t kind = dice.between(0, 8), other = dice.between(0, i);
    text += " | ";
    if (kind <= 2)
      text += "conv " + std::to_string(dice.between(1, 8)) + " " + std::to_string(1 + 2 * dice.between(0, 1));
    if (kind == 3) text += "relu";
    if (kind == 4) text += "add " + std::to_string(other);
    if (kind == 5) text += "concat " + std::to_string(other);
    if (kind == 6) text += "linear " + std::to_string(dice.between(1, 12));
    if (kind == 7) text += dice.one_in(2) ? "norm" : "softmax";
    if (kind == 8) text += dice.one_in(2) ? "transpose" : "matmul " + std::to_string(other);
  }
  return text + "\n";
}

int search(const Question& q, bool network, std::uint64_t tries) {
  const bool branches = q.more.find("schedule=") != std::string::npos;  // else there is one order alone
  std::string best;
  std::uint64_t found = 0, ran = 0;
  for (std::uint64_t seed = 1; seed <= tries; ++seed) {
    Dice dice(seed);
    const std::string text = network ? drawn_network(dice, branches) : drawn_program(dice);
    ran += measured(with_settings(text, q.less)).has_value();
    if (!worse(text, q)) continue;
    ++found;
    if (found > 12 && found % 16 != 0) continue;  // shrinking takes longest
    const std::string less = shrunk(text, q);
    if (best.empty() || size_of(less) < size_of(best)) best = less;
  }
  std::cout << q.less << " -> " << q.more << ", " << q.what << ": worse in " << found << " of " << ran << "\n";
  if (best.empty()) return 0;
  const Measured less = *measured(with_settings(best, q.less)), more = *measured(with_settings(best, q.more));
  std::cout << best << "cycles " << less.cycles << " -> " << more.cycles << ", DRAM bytes " << less.dram_bytes
            << " -> " << more.dram_bytes << "\n\n";
  return 1;
}

}  // namespace
}  // namespace sdip

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "find_worse program|network cycles|bytes|time LESS MORE [TRIES]: LESS and MORE as name=value\n";
    return 2;
  }
  const sdip::Question q{argv[3], argv[4], argv[2]};
  return sdip::search(q, std::string(argv[1]) == "network", argc > 5 ? std::stoull(argv[5]) : 2000);
}
