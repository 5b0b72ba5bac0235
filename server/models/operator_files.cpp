// Operator files read from the disk, and the list of operators as JSON.
#include "server/models/operator_files.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/ops/custom.h"

namespace sdip {

OwnOperatorList operators_of(const std::vector<std::string>& files) {
  if (files.empty()) return nullptr;
  std::vector<Json> values;
  for (const auto& file : files) {
    const std::string text = read_text(file);
    try {
      values.push_back(parse_json(text));
    } catch (const Error& error) {
      throw Error(error.code, file + "#" + error.where, error.what());
    }
  }
  return own_operators(values, files);
}

OwnOperatorList operators_in(const std::filesystem::path& data_folder, const std::vector<std::string>& more) {
  std::vector<std::string> files;
  std::error_code ignored;  // a folder that is not there holds nothing
  for (const auto& entry : std::filesystem::directory_iterator(data_folder / "operators", ignored))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  std::ranges::sort(files);
  files.insert(files.end(), more.begin(), more.end());
  return operators_of(files);
}

OrderedJson operators_json(const OwnOperatorList& own) {
  OrderedJson rows = OrderedJson::array();
  const auto add = [&](const Operator& op, std::string_view origin) {
    rows.push_back({{"domain", op.domain.empty() ? "ai.onnx" : op.domain},
                    {"type", op.type},
                    {"mnemonic", op.mnemonic},
                    {"since", op.since},
                    {"family", op.custom ? family_text(op.custom->family) : std::string_view()},
                    {"composite", op.expand != nullptr},
                    {"origin", origin}});
  };
  for (const Operator& op : operators()) add(op, "built_in");
  if (own)
    for (const auto& custom : own->list) add(custom->row, "file");
  return {{"operators", rows}};
}

}  // namespace sdip
