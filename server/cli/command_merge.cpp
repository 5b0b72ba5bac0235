// sdip merge.
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/io/json_in.h"
#include "server/io/text.h"
#include "server/jobs/merge.h"
#include "server/jobs/service.h"

namespace sdip {
namespace {

struct MergeArguments {
  std::string into;
  std::vector<std::string> parts;
  bool json = false;
};

OrderedJson merged_json(const MergedSweep& merged) {
  OrderedJson gaps = OrderedJson::array();
  for (const IndexRange& gap : merged.gaps) gaps.push_back({{"first", gap.first}, {"end", gap.end}});
  return {{"sweep", merged.id},          {"name", merged.row.name}, {"total", merged.row.total},
          {"done", merged.row.done},     {"made", merged.made},     {"added", merged.added},
          {"agreeing", merged.agreeing}, {"gaps", std::move(gaps)}};
}

void print_merged(const MergedSweep& merged, const std::string& into) {
  constexpr std::size_t most_gaps = 10;
  std::cout << "Sweep " << merged.id << " (" << printable(merged.row.name) << "): " << count_text(merged.row.done)
            << " of " << count_text(merged.row.total) << " points, " << count_text(merged.added) << " of them new, "
            << count_text(merged.agreeing) << " there already and the same\n";
  for (std::size_t g = 0; g < std::min(most_gaps, merged.gaps.size()); ++g)
    std::cout << "  missing: points " << count_text(merged.gaps[g].first) << " to "
              << count_text(merged.gaps[g].end - 1) << "\n";
  if (merged.gaps.size() > most_gaps)
    std::cout << "  and " << count_text(static_cast<std::int64_t>(merged.gaps.size() - most_gaps))
              << " more gaps\n";
  if (!merged.gaps.empty())
    std::cout << "  merge their parts, or evaluate them here: sdip sweep --data " << printable(into) << " --resume "
              << merged.id << "\n";
}

int run_merge(const MergeArguments& arguments) {
  const std::vector<std::filesystem::path> parts(arguments.parts.begin(), arguments.parts.end());
  require_parts(arguments.into, parts);  // before a folder is made
  require_folder(arguments.into);
  Store store(store_file(arguments.into).string());
  const auto all = merge_parts(store, arguments.into, parts);
  if (arguments.json) return print_json({{"sweeps", json_list(all, merged_json)}});
  for (const MergedSweep& merged : all) print_merged(merged, arguments.into);
  for (const MergedSweep& merged : all)
    if (merged.made && (all.size() > 1 || merged.id > 1))
      std::cout << "Sweep " << merged.id << " is one of its own, from " << printable(merged.from)
                << " on: no other sweep here has its spec\n";
  if (all.empty()) std::cout << "No points in these folders\n";
  return exit_ok;
}

}  // namespace

void add_merge_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<MergeArguments>(
      app, action, "merge", "Parts of a sweep (sdip sweep --part), made into one", run_merge);
  command.add_option("OUT", a.into, "Folder to merge into: made where it is missing")->required();
  command.add_option("IN", a.parts, "Folders of parts")->required();
  command.add_flag("--json", a.json, "JSON instead of text");
}

}  // namespace sdip
