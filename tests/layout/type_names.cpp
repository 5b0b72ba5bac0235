// The rule of one definition, for types: the linker takes one of two types of a name, and says nothing.
#include <algorithm>
#include <map>

#include "tests/layout/rules.h"

namespace sdip::layout {
namespace {

struct TypeName {
  std::string name;  // with its namespaces: "sdip::exec::Chip"
  int line = 0;
};

/// Types that are defined in a named namespace of a text: neither inside others or functions, nor in a namespace
/// without a name.
std::vector<TypeName> types_of(const std::string& text) {
  const std::string code = code_of(text);
  std::vector<std::string> scopes;  // of open braces: "sdip", "" without a name, "{" of anything else
  std::vector<TypeName> types;
  std::string statement;  // since the last brace or semicolon
  int line = 1;
  const auto is_outermost = [&] {
    return std::ranges::none_of(scopes, [](const std::string& scope) { return scope.empty() || scope == "{"; });
  };
  const auto open = [&] {
    std::vector<std::string> words;  // a name behind "::" joined to the one before
    for (const Identifier& identifier : identifiers_of(statement)) {
      if (identifier.before == "::" && !words.empty())
        words.back() += "::" + identifier.name;
      else
        words.push_back(identifier.name);
    }
    const auto is = [&](std::size_t i, std::string_view word) { return i < words.size() && words[i] == word; };
    const auto from = static_cast<std::size_t>(std::ranges::find(words, "namespace") - words.begin());
    if (from < words.size()) {
      scopes.push_back("");
      for (std::size_t i = from + 1; i < words.size(); ++i) scopes.back() += (i == from + 1 ? "" : "::") + words[i];
      return;
    }
    const std::size_t first = is(0, "enum") ? 1 : 0;
    const bool is_template = is(0, "template");
    const bool keyword = is(first, "struct") || is(first, "class");
    const bool specialises = statement.find('<') != std::string::npos && statement.find('<') < statement.find(':');
    if (!is_template && keyword && first + 1 < words.size() && !specialises &&
        statement.find('(') == std::string::npos && statement.find('=') == std::string::npos && is_outermost()) {
      std::string name;
      for (const std::string& scope : scopes) name += scope + "::";
      types.push_back({name + words[first + 1], line});
    }
    scopes.emplace_back("{");
  };
  bool directive = false;
  for (const char c : code) {
    if (c == '#') directive = true;
    if (c == '{') open();
    if (c == '}' && !scopes.empty()) scopes.pop_back();
    if (c == '\n') ++line;
    const bool ends = c == '{' || c == '}' || c == ';' || (c == '\n' && directive);
    if (c == '\n') directive = false;
    if (ends)
      statement.clear();
    else
      statement += c;
  }
  return types;
}

}  // namespace

Complaints against_double_types(const std::vector<Source>& sources) {
  std::map<std::string, std::string> places;
  Complaints complaints;
  for (const Source& source : sources)
    for (const TypeName& type : types_of(source.text)) {
      const std::string place = source.path + ":" + std::to_string(type.line);
      const auto [first, fresh] = places.try_emplace(type.name, place);
      if (!fresh) complaints.push_back(place + ": " + type.name + " is a type of " + first->second + ", too");
    }
  return complaints;
}

}  // namespace sdip::layout
