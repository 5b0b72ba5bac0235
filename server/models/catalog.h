// The models that can be named: built in, uploaded into the data folder, or (on the command line) a file.
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/stop.h"
#include "core/explore/mix.h"
#include "core/graph/tree.h"
#include "core/machine/machine.h"
#include "core/onnx/survey.h"
#include "core/program/workload.h"
#include "core/study/workloads.h"
#include "db/store.h"
#include "server/io/files.h"
#include "server/io/json_in.h"
#include "server/models/advice.h"

namespace sdip {

using OwnOperatorList = std::shared_ptr<const OwnOperators>;
using Dims = std::map<std::string, std::int64_t>;  // symbolic dimensions bound by the user
using Given = std::map<std::string, std::string>;  // inputs whose value is given, as text

/// The key of a workload: a name, its file, bound dimensions, given inputs, its role, and workload_key of the
/// machine.
using WorkloadKey = std::tuple<std::string, std::filesystem::path, Dims, Given, Role, std::vector<std::int64_t>>;

/// One member of a workload: a built-in model or a file, in its role.
struct Member {
  Role role = Role::network;
  std::string name;            // a built-in model's, or what the file is called
  std::filesystem::path file;  // empty: built in
  Dims dims{};
  Given given{};
  std::shared_ptr<const MappedFile> bytes = nullptr;  // of the file, where it can be opened no more
};

/// The bytes of a member that is not built in. Throws Error file_not_found, file_unreadable.
std::shared_ptr<const MappedFile> mapped(const Member& member);
inline bool is_built_in(const Member& member) { return member.file.empty() && !member.bytes; }

struct ModelEntry {
  std::string name, title;
  bool built_in = true, pipeline = false;
  std::vector<std::string> stages;
  std::optional<std::int64_t> parameters, size_bytes;
};
OrderedJson entry_json(const ModelEntry& entry);

/// Models may be files on the disk; their symbolic dimensions are bound by `dims`, inputs become constants by
/// `given`, and they take `role`. Assumptions about them are told, once.
struct FileModels {
  Dims dims;
  Given given;
  Role role = Role::network;
  OwnOperatorList operators;
  std::function<void(const std::string&)> tell{};
};

/// Models may be uploaded. They are evaluated in children of `program` (server/models/apart.h).
struct UploadedModels {
  Store* store = nullptr;
  std::filesystem::path data, program;
  OwnOperatorList operators;
};

/// The model that such a child knows.
struct GivenModel {
  Member member;
  OwnOperatorList operators;
};

struct Evaluation;
struct EvaluationTurn;

class Catalog {
 public:
  /// Built-in models.
  Catalog() = default;
  /// And those uploaded.
  explicit Catalog(UploadedModels uploads)
      : store_(uploads.store),
        data_(std::move(uploads.data)),
        program_(std::move(uploads.program)),
        operators_(std::move(uploads.operators)) {}
  /// Built-in models and this one, read in this process.
  explicit Catalog(GivenModel given) : operators_(std::move(given.operators)), given_(std::move(given.member)) {}
  /// Built-in models and files: names that look like paths are read, in this process.
  explicit Catalog(FileModels files) : operators_(files.operators), files_(std::move(files)) {}

  std::vector<ModelEntry> entries() const;
  /// Facts of GET /models/{name}. Throws Error unknown_model (with the nearest names) and what importing throws.
  OrderedJson facts(const std::string& name) const;
  /// The same, of what is not uploaded, with a tree of other bounds.
  OrderedJson facts(const std::string& name, const TreeLimits& limits) const;
  /// Throws Error unknown_model at `where`, file_not_found and file_unreadable when its file cannot be read.
  void require(const std::string& name, const std::string& where) const;
  /// The mix that the name in a sweep or search stands for: a model, or several (core/explore/mix.h). Throws as
  /// `require` does for each of them, and Error value_conflict for two uploaded ones, which no child reads
  /// together.
  Mix mix(const std::string& name, const std::string& where) const;
  /// Reads each file of a mix, so that one that cannot be read is no trait of some machine. Throws what importing
  /// throws. Requires a mix without uploads.
  void require_read(const Mix& mix) const;
  /// The members that a name stands for. Throws Error unknown_model at `where`.
  std::vector<Member> members(const std::string& name, const std::string& where) const;

  /// The workload of `machine`, every stage imported and rewritten; kept for next time. Throws Error unknown_model,
  /// value_conflict (an image size or batch that a file cannot take), and what importing throws.
  std::shared_ptr<const Workload> workload(const std::string& name, const Machine& machine) const;
  /// The same as a function, which refers to the catalog.
  Workloads workloads() const {
    return [this](const std::string& name, const Machine& machine) { return workload(name, machine); };
  }

  /// The network of a member, read in this process, and what its file says of itself. Throw what reading and
  /// importing throw. Require a member that is not uploaded.
  ReadModel read(const Member& member, const PassSizes& sizes) const;
  ModelSurvey survey(const Member& member, const PassSizes& sizes) const;
  /// The assumptions on a model's inputs, a sentence each: dimensions without a size that are 1, inputs that are
  /// constants. Throws what members and survey throw.
  std::vector<std::string> notes(const std::string& name) const;
  /// How a user gives what a model lacks.
  Asking asking() const { return files_ ? Asking::options : Asking::query; }
  /// The member that a name is uploaded as: it is evaluated by `apart` alone.
  std::optional<Member> uploaded(const std::string& name) const;
  /// The same of the one in a mix.
  std::optional<Member> uploaded(const Mix& mix) const;
  /// An evaluation of an uploaded member in a child. Throws what evaluate_apart does, and busy where others are
  /// evaluated for long: not of `jobs`, of which few run at once.
  std::string apart(const Member& member, const Evaluation& evaluation, const Json& request,
                    const EvaluationTurn& turn, bool job = false) const;
  /// Operators of files that models may use; may be null.
  const OwnOperatorList& operators() const { return operators_; }

  /// Keeps an uploaded file under its hash and name; returns its facts, as JSON. The same bytes, dims, given
  /// inputs and role again change nothing. Throws Error conflict (the name is built in, or taken by other bytes),
  /// value_invalid (the name), and what importing throws: `refused` is then what else there is to say
  /// (refused_model). Requires a store.
  std::string add(const Member& member, NewFile& file, const std::string& sha256, const Stop& stop = {},
                  OrderedJson* refused = nullptr, Asking asking = Asking::query);
  /// Throws Error not_found, conflict (built in, or a sweep uses it).
  void remove(const std::string& name);

 private:
  /// Facts as JSON, or what `add` throws.
  std::string facts_apart(const Member& member, const Stop& stop = {}, OrderedJson* refused = nullptr,
                          Asking asking = Asking::query) const;
  bool is_file_name(const std::string& name) const;
  /// The member that a row stands for; read from its facts once, as a sweep asks for each of its points.
  Member stored_member(const StoredModel& row) const;
  /// Evaluates a member's bytes with `here`.
  template <class Here>
  auto read_with(const Member& member, const PassSizes& sizes, const Here& here) const;

  /// Notes of a file that was read; told when they are new.
  const std::vector<std::string>& notes_of_file(const Member& member) const;

  Store* store_ = nullptr;
  std::filesystem::path data_, program_;
  OwnOperatorList operators_;
  std::optional<FileModels> files_;
  std::optional<Member> given_;
  mutable std::counting_semaphore<> children_{4};  // of requests: each may take gigabytes

  using Cached = std::pair<WorkloadKey, std::shared_ptr<const Workload>>;
  std::mutex changing_;  // one upload or removal at a time: a file is shared by the names that have its bytes
  mutable std::mutex mutex_;
  mutable std::list<Cached> cache_;                                       // most recently used first
  mutable std::map<std::string, std::pair<std::string, Member>> stored_;  // by name: version of the row, member
  mutable std::map<std::string, std::vector<std::string>> told_;          // by file
};

/// Whether `name` is a built-in model or pipeline.
bool is_built_in(std::string_view name);

/// The role of that name. Throws Error value_invalid.
Role role_named(std::string_view name, const std::string& where);

/// `NAME=SIZE`. Throws Error value_invalid.
void bind_dim(Dims& dims, const std::string& text, const std::string& where);
/// `NAME=VALUE`, the value not looked at. Throws Error value_invalid.
void give_input(Given& given, const std::string& text, const std::string& where);

}  // namespace sdip
