// Names to members, members to workloads.
#include "server/models/catalog.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/workload/workload.h"
#include "server/models/model_facts.h"
#include "server/models/request.h"

namespace sdip {
namespace {

constexpr std::size_t most_cached = 24;

std::vector<Member> built_in_members(std::string_view name) {
  std::vector<Member> members;
  for (NetworkPart& part : built_in_parts(name)) members.push_back({part.role, std::move(part.name), {}, {}});
  return members;
}

std::vector<std::string_view> built_in_names() {
  std::vector<std::string_view> names;
  for (const auto& row : built_in_pipelines()) names.push_back(row.name);
  for (const auto& row : built_in_models()) names.push_back(row.name);
  return names;
}

void refuse_sizes_of_file(const Machine& machine) {
  if (machine.batch != 1)
    throw Error("value_conflict", "batch", "a model read from a file has its own batch; expected 1");
  if (machine.image_height_px != 0 || machine.image_width_px != 0)
    throw Error("value_conflict", "image_height_px", "a model read from a file has its own sizes; expected 0");
}

}  // namespace

std::shared_ptr<const MappedFile> mapped(const Member& member) {
  return member.bytes ? member.bytes : std::make_shared<const MappedFile>(member.file);
}

bool is_built_in(std::string_view name) { return find_pipeline(name) || find_model(name); }

Role role_named(std::string_view name, const std::string& where) {
  for (const Role role : {Role::text_encoder, Role::encoder, Role::core, Role::decoder, Role::network})
    if (role_text(role) == name) return role;
  throw Error("value_invalid", where,
              std::string(name.substr(0, 80)) + ": expected text_encoder, encoder, core, decoder or network");
}

void bind_dim(Dims& dims, const std::string& text, const std::string& where) {
  const auto equals = text.find('=');
  const bool named = equals != std::string::npos && equals > 0;
  const auto size = named ? whole_number(std::string_view(text).substr(equals + 1)) : std::nullopt;
  if (!size || *size < 0)
    throw Error("value_invalid", where, text.substr(0, 80) + ": expected NAME=SIZE with a size of at least 0");
  if (!dims.emplace(text.substr(0, equals), *size).second)
    throw Error("value_invalid", where, text.substr(0, equals) + " is bound twice");
}

void give_input(Given& given, const std::string& text, const std::string& where) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error("value_invalid", where,
                text.substr(0, 80) + ": expected NAME=VALUE, such as sr=16000 or mask=[1,1,0]");
  if (!given.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
    throw Error("value_invalid", where, text.substr(0, equals) + " is given twice");
}

OrderedJson entry_json(const ModelEntry& entry) {
  const auto optional = [](const std::optional<std::int64_t>& value) {
    return value ? OrderedJson(*value) : OrderedJson();
  };
  return {{"name", entry.name},
          {"title", entry.title},
          {"origin", entry.built_in ? "built_in" : "uploaded"},
          {"kind", entry.pipeline ? "pipeline" : "model"},
          {"stages", entry.stages},
          {"parameters", optional(entry.parameters)},
          {"bytes", optional(entry.size_bytes)}};
}

bool Catalog::is_file_name(const std::string& name) const {
  if (!files_) return false;
  std::error_code problem;
  return name.find('/') != std::string::npos || name.ends_with(".onnx") ||
         (std::filesystem::exists(name, problem) && !std::filesystem::is_directory(name, problem));
}

std::vector<ModelEntry> Catalog::entries() const {
  std::vector<ModelEntry> entries;
  for (const auto& row : built_in_pipelines()) {
    ModelEntry entry{std::string(row.name), std::string(row.title), true, true, {}, 0, std::nullopt};
    for (const NetworkPart& part : built_in_parts(row.name)) {
      entry.stages.push_back(part.name);
      *entry.parameters += find_model(part.name)->parameters;
    }
    entries.push_back(std::move(entry));
  }
  for (const auto& row : built_in_models())
    entries.push_back({std::string(row.name),
                       std::string(row.title),
                       true,
                       false,
                       {std::string(row.name)},
                       row.parameters,
                       std::nullopt});
  if (!store_) return entries;
  for (const auto& row : store_->models()) {
    const Json facts = facts_head(row.facts_json);
    entries.push_back(
        {row.name, row.name, false, false, {row.name}, facts.at("parameters").get<std::int64_t>(), row.size_bytes});
  }
  return entries;
}

Member Catalog::stored_member(const StoredModel& row) const {
  const std::string version = row.sha256 + row.created + std::to_string(std::hash<std::string>()(row.facts_json));
  const std::lock_guard lock(mutex_);
  auto& [known, member] = stored_[row.name];
  if (known != version) {
    member = member_of_facts(row.facts_json);
    member.name = row.name;
    member.file = data_ / row.file;
    known = version;
  }
  return member;
}

std::vector<Member> Catalog::members(const std::string& name, const std::string& where) const {
  if (files_ && is_built_in(name) && !(files_->dims.empty() && files_->given.empty()))
    throw Error(
        "value_conflict", files_->dims.empty() ? "--input" : "--dim",
        "expected with an ONNX file only; the sizes of a built-in model follow from the machine's batch and "
        "image size");
  if (std::vector<Member> known = built_in_members(name); !known.empty()) return known;
  std::vector<std::string_view> names = built_in_names();
  std::vector<StoredModel> stored;
  if (given_ && given_->name == name) return {*given_};
  if (store_) {
    if (const auto row = store_->model(name)) return {stored_member(*row)};
    stored = store_->models();
    for (const auto& row : stored) names.push_back(row.name);
  }
  if (is_file_name(name))
    return {{files_->role, std::filesystem::path(name).stem().string(), name, files_->dims, files_->given}};
  const bool mix = name.find_first_of("+:") != std::string::npos;
  const std::string hint = mix ? "sweep, best and screen take mixes of models" : nearest_names(name, names);
  throw Error("unknown_model", where,
              "no model " + name.substr(0, 80) + (hint.empty() ? "; `sdip model list` lists them" : "; " + hint));
}

void Catalog::require(const std::string& name, const std::string& where) const {
  for (const Member& member : members(name, where))
    if (!is_built_in(member)) mapped(member);
}

namespace {

/// Refuses a file that stands twice in a mix, as by another path: plain.onnx and ./plain.onnx. A model that is no
/// file is not equal to one.
void refuse_file_twice(const Mix& mix, const std::string& where) {
  for (std::size_t later = 1; later < mix.size(); ++later)
    for (std::size_t first = 0; first < later; ++first) {
      std::error_code not_both;
      if (std::filesystem::equivalent(mix[first].model, mix[later].model, not_both))
        throw Error("value_invalid", where, mix[later].model.substr(0, 80) + " stands twice in the mix");
    }
}

}  // namespace

Mix Catalog::mix(const std::string& name, const std::string& where) const {
  std::error_code ignored;
  const bool is_file = files_ && std::filesystem::exists(name, ignored);
  Mix mix = is_file ? Mix{{name, 1}} : mix_of_text(name, where);
  for (const MixPart& part : mix) require(part.model, where);
  if (files_) refuse_file_twice(mix, where);
  if (std::ranges::count_if(mix, [&](const MixPart& part) { return uploaded(part.model).has_value(); }) > 1)
    throw Error("value_conflict", where, "expected one uploaded model at most, beside built-in ones");
  return mix;
}

void Catalog::require_read(const Mix& mix) const {
  for (const MixPart& part : mix)
    for (const Member& member : members(part.model, "/model"))
      if (!is_built_in(member)) read(member, {});
}

std::shared_ptr<const Workload> Catalog::workload(const std::string& name, const Machine& machine) const {
  const std::vector<Member> members = this->members(name, "/model");
  const Member& first = members.front();
  const WorkloadKey key = {name, first.file, first.dims, first.given, first.role, workload_key(machine)};
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(cache_, key, &Cached::first);
    if (found != cache_.end()) {
      cache_.splice(cache_.begin(), cache_, found);
      return found->second;
    }
  }
  std::vector<NetworkPart> networks;
  for (const Member& member : members) {
    if (!is_built_in(member)) refuse_sizes_of_file(machine);
    networks.push_back({member.role, member.name});
  }
  auto workload = std::make_shared<const Workload>(
      workload_of(name, networks, machine,
                  [&](std::size_t part, const PassSizes& sizes) { return read(members[part], sizes); }));
  const std::lock_guard lock(mutex_);
  cache_.emplace_front(key, workload);
  if (cache_.size() > most_cached) cache_.pop_back();
  return workload;
}

std::vector<std::string> Catalog::notes(const std::string& name) const {
  const Member member = members(name, "/model").front();
  if (is_built_in(member)) return {};
  if (files_) return notes_of_file(member);
  if (!store_) return notes_of(member, survey(member, {}).assumed);
  const auto row = store_->model(name);
  if (!row) return {};
  const std::string version = name + " " + row->sha256 + row->created;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = told_.find(version); found != told_.end()) return found->second;
  }
  std::vector<std::string> notes = notes_of(member, assumed_in_facts(row->facts_json));
  const std::lock_guard lock(mutex_);
  return told_.try_emplace(version, std::move(notes)).first->second;
}

const std::vector<std::string>& Catalog::notes_of_file(const Member& member) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = told_.find(member.file.string()); found != told_.end()) return found->second;
  }
  std::vector<std::string> notes = notes_of(member, survey(member, {}).assumed);
  const std::lock_guard lock(mutex_);
  const auto [told, fresh] = told_.emplace(member.file.string(), std::move(notes));
  if (fresh && files_->tell)  // assumed ones, which come first: the values that were given are known
    for (std::size_t i = 0; i + member.given.size() < told->second.size(); ++i) files_->tell(told->second[i]);
  return told->second;
}

OrderedJson Catalog::facts(const std::string& name) const {
  if (store_)
    if (const auto row = store_->model(name)) {
      OrderedJson stored = OrderedJson::parse(row->facts_json);
      for (const char* later : {"given", "assumed"})  // not written by an earlier version
        if (!stored.contains(later)) stored[later] = *later == 'g' ? OrderedJson::object() : OrderedJson::array();
      if (stored.contains("ir_version")) return stored;  // else kept by a version that wrote no report
      return OrderedJson::parse(facts_apart(stored_member(*row)));
    }
  return facts(name, api_tree);
}

OrderedJson Catalog::facts(const std::string& name, const TreeLimits& limits) const {
  const auto parts = members(name, "name");
  return model_facts(*this, name, parts, limits);
}

}  // namespace sdip
