// The text language of mappings.
#include "core/program/tiling/mapping_text.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/escaped.h"
#include "core/base/list_text.h"
#include "core/base/words.h"
#include "core/program/tiling/rule_reader.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

std::int64_t size_of(const RuleReader& reader, std::string_view text) {
  if (text == "all") return 0;
  const std::int64_t size = whole_number(text).value_or(0);
  if (size < 1)
    reader.refuse("expected a whole number from 1, or all; found '" + printable(text.substr(0, 40)) + "'");
  return size;
}

LoopOrder order_of(const RuleReader& reader, std::string_view text) {
  LoopOrder order{};
  std::size_t count = 0;
  for (const std::string_view name : split(text, ',')) {
    constexpr LoopOrder loops{Loop::rows, Loop::columns, Loop::channels, Loop::sums};
    const auto* loop = std::ranges::find(loops, name, loop_text);
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
    if (loop == loops.end() || count == order.size() || std::find(order.begin(), end, *loop) != end)
      reader.refuse("expected rows, columns, channels and sums, once each; found '" +
                    printable(text.substr(0, 60)) + "'");
    order[count++] = *loop;
  }
  if (count != order.size()) reader.refuse(fmt::format("the order names {} of the four loops", count));
  return order;
}

MappingRule parse_mapping_line(RuleReader& reader) {
  MappingRule rule;
  rule.line = reader.number;
  rule.pattern = reader.pattern();
  std::map<std::string, std::int64_t*, std::less<>> sizes{
      {"rows", &rule.rows}, {"columns", &rule.columns}, {"channels", &rule.channels}, {"sums", &rule.sums}};
  bool ordered = false;
  while (!reader.done()) {
    const std::string_view word = reader.word();
    if (rule.result) reader.refuse("nothing may follow the place of the result");
    if (word == "dsram" || word == "dram") {
      rule.result = word == "dram" ? Place::dram : Place::dsram;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
    if (key == "order" && !ordered) {
      rule.order = order_of(reader, value);
      ordered = true;
    } else if (const auto size = sizes.find(key); size != sizes.end()) {
      *size->second = size_of(reader, value);
      sizes.erase(size);
    } else {
      reader.refuse("expected rows=, columns=, channels=, sums=, order=, once each, dsram or dram; found '" +
                    printable(word.substr(0, 60)) + "'");
    }
  }
  ++reader.field;
  if (!sizes.empty()) reader.refuse(sizes.begin()->first + "= is missing");
  if (!ordered) reader.refuse("order= is missing");
  return rule;
}

/// The pieces of a pattern between its stars, with what is escaped as it stands for itself.
std::vector<std::string> pieces_of(std::string_view pattern) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*') {
      pieces.emplace_back();
      continue;
    }
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    pieces.back() += pattern[i];
  }
  return pieces;
}

/// Where `piece` ends in `text` for the first time from `from` on (Knuth, Morris and Pratt: each character is
/// compared at most twice, however the piece repeats itself); npos: nowhere.
std::size_t end_of_first(std::string_view piece, std::string_view text, std::size_t from) {
  if (piece.empty()) return from;
  std::vector<std::size_t> border(piece.size(), 0);  // of each beginning, its longest that it also ends with
  for (std::size_t i = 1, k = 0; i < piece.size(); ++i) {
    while (k > 0 && piece[i] != piece[k]) k = border[k - 1];
    if (piece[i] == piece[k]) ++k;
    border[i] = k;
  }
  for (std::size_t t = from, k = 0; t < text.size(); ++t) {
    while (k > 0 && text[t] != piece[k]) k = border[k - 1];
    if (text[t] == piece[k] && ++k == piece.size()) return t + 1;
  }
  return std::string_view::npos;
}

/// Whether `text` is what `pattern` stands for: its pieces one after the other, each where it is first, the last
/// at the end. It takes time of the order of their lengths' sum.
bool stands_for(std::string_view pattern, std::string_view text) {
  const std::vector<std::string> pieces = pieces_of(pattern);
  if (pieces.size() == 1) return text == pieces[0];
  const std::string &first = pieces.front(), &last = pieces.back();
  if (text.size() < first.size() + last.size() || !text.starts_with(first) || !text.ends_with(last)) return false;
  const std::string_view middle = text.substr(0, text.size() - last.size());
  std::size_t at = first.size();
  for (std::size_t i = 1; i + 1 < pieces.size() && at != std::string_view::npos; ++i)
    at = end_of_first(pieces[i], middle, at);
  return at != std::string_view::npos;
}

}  // namespace

std::vector<MappingRule> parse_mappings(std::string_view text, std::string_view where) {
  return parse_rules("mapping_invalid", text, where, parse_mapping_line);
}

std::string mapping_text(const MappingRule& rule) {
  const auto size = [](std::int64_t n) { return n == 0 ? std::string("all") : std::to_string(n); };
  std::string text =
      fmt::format("\"{}\" rows={} columns={} channels={} sums={} order={}", rule.pattern, size(rule.rows),
                  size(rule.columns), size(rule.channels), size(rule.sums), list_text(rule.order, loop_text, ","));
  if (rule.result) text += *rule.result == Place::dram ? " dram" : " dsram";
  return text;
}

MappingRule rule_of(std::string_view name, const Nest& nest, const Mapping& mapping) {
  MappingRule rule;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < ' ' ||
        printable(std::string_view(&c, 1)).size() > 1) {  // not for terminals
      rule.pattern += '*';
      continue;
    }
    if (c == '*' || c == '"' || c == '\\') rule.pattern += '\\';
    rule.pattern += c;
  }
  const auto size = [](std::int64_t tile, std::int64_t loop) { return tile >= loop ? 0 : tile; };
  rule.rows = size(mapping.tile_rows, nest.loops.out_h);
  rule.columns = size(mapping.tile_columns, nest.loops.out_w);
  rule.channels = size(mapping.tile_channels, nest.channels());
  rule.sums = size(mapping.tile_sums, nest.loops.in_channels);
  rule.order = mapping.order;
  return rule;
}

std::string mappings_text(const Application& application) {
  std::string text;
  for (const CompiledStage& stage : application.stages)
    for (const Instruction& instruction : stage.program.instructions) {
      const auto& c = stage.program.classes[instruction.instruction_class];
      if (!is_nest(c.work.family)) continue;
      const Nest nest{c.work.nest, c.operand_b == Place::psram};
      MappingRule rule = rule_of(stage.name + ":" + instruction.name, nest, c.mapping);
      if (!c.to_dram) rule.result = Place::dsram;
      if (c.to_dram && !c.to_dsram && !c.push) rule.result = Place::dram;
      text += mapping_text(rule) + "\n";
    }
  return text;
}

bool names_layer(std::string_view pattern, std::string_view stage, std::string_view name) {
  return stands_for(pattern, name) || stands_for(pattern, fmt::format("{}:{}", stage, name));
}

bool matches(const MappingRule& rule, std::string_view stage, std::string_view name) {
  return names_layer(rule.pattern, stage, name);
}

Mapping mapping_for(const MappingRule& rule, const Nest& nest) {
  const auto tile = [](std::int64_t size, std::int64_t loop) { return size == 0 ? loop : std::min(size, loop); };
  return {tile(rule.rows, nest.loops.out_h), tile(rule.columns, nest.loops.out_w),
          tile(rule.channels, nest.channels()), tile(rule.sums, nest.loops.in_channels), rule.order};
}

}  // namespace sdip
