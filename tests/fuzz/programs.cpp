// The targets of programs that are read back: `.graph` text, its binary form, and the `.weight` beside it. In the
// place of targets.cpp, with all of core; what is accepted is printed and read again, and costed.
#include <charconv>

#include "core/base/error.h"
#include "core/cost/price/estimate.h"
#include "core/program/form/parse.h"
#include "core/program/weights/weights.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/random_graph.h"
#include "tests/fuzz/target.h"

namespace sdip::fuzz {
namespace {

constexpr std::uint64_t most_seeds = 60;
constexpr std::int64_t most_number = std::int64_t{1} << 60;
constexpr std::size_t word_bytes = instruction_word_bits / 8;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Programs of small random networks on small random machines; every compound that the compiler makes occurs.
template <class Take>
void for_each_program(const Take& take) {
  for (std::uint64_t seed = 1; seed <= most_seeds; ++seed) {
    GraphDice dice(seed);
    const Graph graph = random_graph(dice);
    const Machine machine = random_compile_machine(dice);
    const Application application = compiled(graph, machine);
    if (application.feasible) take(seed, graph, machine, application);
  }
}

/// What the program costs on the machine that it is for, and that each form gives it back.
void use(const CompiledStage& stage) {
  const std::string text = graph_text(stage), bytes = write_graph_binary(stage);
  check(graph_text(parse_graph_text(text)) == text, "fuzz: a program's text reads back as another");
  check(write_graph_binary(parse_graph_text(text)) == bytes, "fuzz: a program's text reads back as other bytes");
  check(graph_text(read_graph_binary(bytes_of(bytes))) == text, "fuzz: a program's bytes read back as another");
  const Machine machine = machine_like(stage.needs);
  Application application;
  application.stages = {stage};
  estimate(application, machine);
  misfit(stage, machine);
}

template <class Read>
std::string outcome_of(const Read& read) {
  try {
    use(read());
    return "program";
  } catch (const Error& error) {
    check(!error.code.empty() && !error.where.empty(), "fuzz: an error without a code or a place");
    return error.code;
  }
}

std::string run_text(std::string_view input) {
  return outcome_of([&] { return parse_graph_text(input); });
}

std::string run_binary(std::string_view input) {
  return outcome_of([&] { return read_graph_binary(bytes_of(input)); });
}

const std::vector<CompiledStage>& stages() {
  static const std::vector<CompiledStage> all = [] {
    std::vector<CompiledStage> made;
    for_each_program([&](std::uint64_t, const Graph&, const Machine&, const Application& application) {
      made.insert(made.end(), application.stages.begin(), application.stages.end());
    });
    return made;
  }();
  return all;
}

/// A program with its scales, and its weights as a file.
struct Filed {
  CompiledStage stage;
  Machine machine;
  std::string bytes;
};

std::vector<float> some_weights(const Value& value) {
  std::vector<float> numbers(static_cast<std::size_t>(element_count(value.operand.shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.25F * static_cast<float>(i * 7 % 9) - 1;
  return numbers;
}

/// In each number format, dense and pruned, packed or not.
Machine weight_machine(std::uint64_t seed, Machine machine) {
  machine.weight_format = static_cast<NumberFormat>(seed % std::size(number_formats));
  machine.accumulator_format = NumberFormat::fp32;
  machine.scale_granularity = seed % 2 == 0 ? ScaleGranularity::tensor : ScaleGranularity::channel;
  if (seed % 3 != 0) {
    machine.sparsity = Sparsity::skipping;
    machine.weight_density = Decimal{50};
    machine.sparsity_group = seed % 3 == 1 ? 0 : 4;
  }
  if (seed % 4 == 0) machine.weight_compression = Decimal{105};
  return machine;
}

const std::vector<Filed>& filed_programs() {
  static const std::vector<Filed> all = [] {
    std::vector<Filed> made;
    for_each_program([&](std::uint64_t seed, const Graph& graph, const Machine& plain, const Application&) {
      const Machine machine = weight_machine(seed, plain);
      try {
        const Application application = compiled(graph, machine);
        if (!application.feasible) return;
        Filed filed{application.stages.at(0), machine, {}};
        const WrittenWeights written =
            write_weight_file(filed.stage, machine, some_weights, [&](std::span<const std::byte> piece) {
              filed.bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
            });
        for (std::size_t i = 0; i < written.scales.size(); ++i)
          filed.stage.program.instructions[i].scales = written.scales[i];
        made.push_back(std::move(filed));
      } catch (const Error&) {  // what does not shrink, and what is not modelled
      }
    });
    check(made.size() >= 10 && made.size() < 256, "fuzz: too few programs have a .weight");
    return made;
  }();
  return all;
}

std::vector<std::string> texts() {
  std::vector<std::string> all;
  for (const CompiledStage& stage : stages()) all.push_back(graph_text(stage));
  return all;
}

std::vector<std::string> binaries() {
  std::vector<std::string> all;
  for (const CompiledStage& stage : stages()) all.push_back(write_graph_binary(stage));
  return all;
}

/// The input, or as often a sound program: most that were changed once are refused whatever else is changed.
const std::string& this_or_sound(const std::string& input, const std::vector<std::string>& sound, Random& random) {
  return sound.empty() || below(random, 2) == 0 ? input : sound[below(random, sound.size())];
}

/// A piece of a text from one mark to the next, marks not included.
struct Piece {
  std::size_t at = 0, size = 0;
};

/// Mostly of the instructions, which stand last.
Piece piece_near(std::string_view text, std::string_view marks, Random& random) {
  if (text.empty()) return {};
  const std::size_t first = below(random, 4) > 0 ? text.find("\ninstruction ") : 0;
  const std::size_t from = first == std::string_view::npos ? 0 : first;
  const std::size_t near = from + below(random, text.size() - from);
  const std::size_t before = text.find_last_of(marks, near), end = text.find_first_of(marks, near);
  const std::size_t at = before == std::string_view::npos ? 0 : before + 1;
  return {at, (end == std::string_view::npos ? text.size() : end) - std::min(at, end)};
}

std::string number_near(std::string_view token, Random& random) {
  constexpr std::string_view ends[] = {"0",
                                       "-1",
                                       "1",
                                       "4294967296",
                                       "1125899906842624",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "18446744073709551616",
                                       "1e999"};
  std::int64_t number = 0;
  const auto read = std::from_chars(token.data(), token.data() + token.size(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == token.data() + token.size();
  if (!is_number || number < -most_number || number > most_number || below(random, 6) == 0)
    return std::string(ends[below(random, std::size(ends))]);
  const std::int64_t changed[] = {number + 1, number - 1, 2 * number, number / 2, -number};
  return std::to_string(changed[below(random, std::size(changed))]);
}

constexpr std::string_view token_marks = " =:,\n()[]{}x@+%\"", field_marks = " \n", line_marks = "\n";

/// Tokens, fields or lines changed, doubled, removed, or one in the place of another.
void change_text(std::string& text, Random& random) {
  const std::string_view marks = below(random, 3) > 0    ? token_marks
                                 : below(random, 2) == 0 ? field_marks
                                                         : line_marks;
  const Piece to = piece_near(text, marks, random), from = piece_near(text, marks, random);
  const std::string other = text.substr(from.at, from.size);
  switch (below(random, 6)) {
    case 0:
      text.replace(to.at, to.size, other);
      break;
    case 1:
      text.insert(to.at, other + (marks == token_marks ? "," : marks == field_marks ? " " : "\n"));
      break;
    case 2:
      text.erase(to.at, to.size + 1);
      break;
    default: {
      const Piece token = piece_near(text, token_marks, random);
      text.replace(token.at, token.size, number_near(std::string_view(text).substr(token.at, token.size), random));
    }
  }
}

std::string changed_text(const std::string& input, Random& random) {
  if (below(random, 8) == 0) return changed_bytes(input, random);
  static const std::vector<std::string> sound = texts();
  std::string text = this_or_sound(input, sound, random);
  for (std::size_t i = below(random, 3) == 0 ? 3 : 1; i > 0; --i) change_text(text, random);
  return text;
}

/// Bits and bytes of words changed; words doubled, removed, moved.
std::string changed_words(const std::string& input, Random& random) {
  if (input.size() < 2 * word_bytes || below(random, 8) == 0) return changed_bytes(input, random);
  static const std::vector<std::string> sound = binaries();
  std::string bytes = this_or_sound(input, sound, random);
  const std::size_t half = bytes.size() / 2;  // the words and what stands behind them
  const std::size_t at = half + below(random, bytes.size() - half),
                    word = at - std::min(at, below(random, word_bytes));
  switch (below(random, 6)) {
    case 0:
      bytes.insert(word, bytes.substr(below(random, bytes.size()), word_bytes));
      break;
    case 1:
      bytes.erase(word, word_bytes);
      break;
    case 2:
      bytes.replace(word, word_bytes, bytes.substr(below(random, bytes.size() - word_bytes), word_bytes));
      break;
    default:
      for (std::size_t i = 1 + below(random, 3); i > 0; --i) {
        const std::size_t near = std::min(bytes.size() - 1, at + below(random, 2 * word_bytes));
        bytes[near] = static_cast<char>(below(random, 4) == 0 ? 0xff : bytes[near] ^ (1 << below(random, 8)));
      }
  }
  return bytes;
}

/// The first byte says of which program the others are the `.weight`.
std::string run_weights(std::string_view input) {
  if (input.empty()) return "empty";
  const Filed& filed = filed_programs()[static_cast<unsigned char>(input[0]) % filed_programs().size()];
  try {
    const WeightFile file = read_weight_file(filed.stage, filed.machine, bytes_of(input.substr(1)));
    for (std::size_t i = 0; i < filed.stage.program.instructions.size(); ++i) weights_of(file, i);
    return "weights";
  } catch (const Error& error) {
    check(error.code == "weight_file_invalid", "fuzz: other words than that the weights are invalid");
    return error.code;
  }
}

std::vector<std::string> weight_files() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < filed_programs().size(); ++i) {
    all.push_back(static_cast<char>(i) + filed_programs()[i].bytes);
    check(run_weights(all.back()) == "weights", "fuzz: a .weight as written is refused");
  }
  return all;
}

/// Mostly of the length that the program says: others are refused at once.
std::string changed_weights(const std::string& input, Random& random) {
  if (input.empty() || below(random, 8) == 0) return changed_bytes(input, random);
  std::string bytes = input;
  for (std::size_t i = 1 + below(random, 4); i > 0; --i) {
    char& byte = bytes[below(random, bytes.size())];
    byte = static_cast<char>(below(random, 2) == 0   ? byte ^ (1 << below(random, 8))
                             : below(random, 2) == 0 ? 0
                                                     : 0xff);
  }
  return bytes;
}

constexpr Target rows[] = {
    {"program_text", run_text, changed_text, texts},
    {"program_binary", run_binary, changed_words, binaries},
    {"weights", run_weights, changed_weights, weight_files},
};

}  // namespace

std::span<const Target> targets() { return rows; }

}  // namespace sdip::fuzz
