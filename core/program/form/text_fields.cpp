// Fields of lists: fetches, parts, loop orders.
#include "core/program/form/text_fields.h"

#include "core/base/list_text.h"
#include "core/program/form/format_text.h"

namespace sdip {

std::string_view compound_text(Compound compound) {
  constexpr std::string_view names[] = {"single", "attention", "strips"};
  return names[at(compound)];
}

std::string order_text(const LoopOrder& order) { return list_text(order, loop_text, ","); }

void TextOut::fetches(std::string_view name, int, std::vector<Fetch>& x, const std::vector<Fetch>& standard) {
  if (x == standard) return;
  const auto text_of = [](const Fetch& f) {
    const std::string passes = f.passes == 1 ? "" : "x" + std::to_string(f.passes);
    return fmt::format("{}:{}{}{}", place_text(f.place), f.elements, passes, f.per_fold ? ":fold" : "");
  };
  field(name, x.empty() ? "none" : list_text(x, text_of, ","));
}

void TextOut::parts(std::string_view name, std::vector<Part>& x) {
  for (Part& part : x) {
    std::string text;
    TextOut inside{text};
    part_fields(inside, part);
    field(name, "{" + (text.empty() ? text : text.substr(1)) + "}");
  }
}

TextIn TextIn::read(Scanner& in) {
  TextIn fields{in.line(), {}, {}};
  for (in.skip_spaces(); !in.at_end(); in.skip_spaces()) {
    const Scanner before = in;
    const std::string_view name = in.word("a field's name");
    in.expect("=");
    const std::string_view value = in.value(fmt::format("the value of '{}'", name));
    if (name == "part")
      fields.given_parts.push_back(value);
    else if (!fields.given.emplace(name, value).second)
      before.refuse(fmt::format("each field once, not '{}' again", name));
  }
  return fields;
}

std::optional<Scanner> TextIn::take(std::string_view name) {
  if (name == "part" && given_parts.size() == 1) {  // of a stage: a number
    const Scanner in(given_parts.front(), line);
    given_parts.clear();
    return in;
  }
  const auto found = given.find(name);
  if (found == given.end()) return std::nullopt;
  const Scanner in(found->second, line);
  given.erase(found);
  return in;
}

void TextIn::finish() const {
  if (!given.empty()) refuse_line(line, fmt::format("no such field: '{}'", given.begin()->first));
  if (!given_parts.empty()) refuse_line(line, "no such field here: 'part'");
}

std::int64_t read_density(Scanner& in) {
  const Scanner before = in;
  const auto hundredths = density_of(in.word("a density"));
  if (!hundredths) before.refuse("a density from 0.01 to 1");
  return *hundredths;
}

void TextIn::flag(std::string_view name, bool& x) {
  x = false;
  auto in = take(name);
  if (!in) return;
  x = in->number(name, 0, 1) == 1;
  end(*in);
}

void TextOut::formats(std::string_view name, const std::optional<Formats>& x,
                      const std::optional<Formats>& standard) {
  if (x == standard) return;
  std::string text = "machine";
  if (x) {
    text = fmt::format("{},{},{}", format_text(x->weights), format_text(x->activations), format_text(x->results));
    if (x->accumulators) text += "," + std::string(format_text(*x->accumulators));
    if (x->density_hundredths) text += ",density:" + density_text(*x->density_hundredths);
  }
  field(name, text);
}

void TextIn::formats(std::string_view name, std::optional<Formats>& x, const std::optional<Formats>& standard) {
  x = standard;
  auto in = take(name);
  if (!in) return;
  x = std::nullopt;
  if (!in->accept("machine")) {
    const auto format = [&] {
      return one_of<NumberFormat>(*in, "a number format", static_cast<int>(std::size(number_formats)), format_text);
    };
    x.emplace();
    x->weights = format();
    in->expect(",");
    x->activations = format();
    in->expect(",");
    x->results = format();
    for (bool more = in->accept(","); more; more = !x->density_hundredths && in->accept(",")) {
      if (in->accept("density:"))
        x->density_hundredths = read_density(*in);
      else if (!x->accumulators)
        x->accumulators = format();
      else
        in->refuse("density:");
    }
  }
  end(*in);
}

void TextIn::order(int, LoopOrder& x, const LoopOrder& standard) {
  x = standard;
  auto in = take("order");
  if (!in) return;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i > 0) in->expect(",");
    x[i] = one_of<Loop>(*in, "order", 4, loop_text);
  }
  end(*in);
}

void TextIn::fetches(std::string_view name, int, std::vector<Fetch>& x, const std::vector<Fetch>& standard) {
  x = standard;
  auto in = take(name);
  if (!in) return;
  x.clear();
  if (in->accept("none")) return end(*in);
  do {
    Fetch f;
    f.place = one_of<Place>(*in, name, 6, place_text);
    in->expect(":");
    f.elements = in->number(name);
    if (in->accept("x")) f.passes = in->number(name);
    f.per_fold = in->accept(":fold");
    x.push_back(f);
  } while (in->accept(","));
  end(*in);
}

void TextIn::parts(std::string_view, std::vector<Part>& x) {
  x.clear();
  for (const std::string_view text : given_parts) {
    if (text.size() < 2 || text.front() != '{' || text.back() != '}') Scanner(text, line).refuse("part={...}");
    Scanner in(text.substr(1, text.size() - 2), line);
    TextIn fields = read(in);
    part_fields(fields, x.emplace_back());
    fields.finish();
  }
  given_parts.clear();
}

}  // namespace sdip
