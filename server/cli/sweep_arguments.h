// A sweep as the command line says it, made into the spec that POST /sweeps takes. Internal to its room.
#pragma once

#include <optional>

#include "core/explore/space/revision.h"
#include "server/cli/commands.h"
#include "server/io/json_in.h"

namespace sdip {

struct SweepArguments {
  std::string model, name, sampling, spec_file, data, export_file, formats_file, part;
  std::vector<std::string> axes, links, objectives, metrics, constraints;
  FileOptions files;
  MachineOptions machine;
  std::optional<std::int64_t> count, seed, resume, clone, extend, narrow, retry;
  std::int64_t validate_seconds = 60;
  bool json = false;
  double accuracy_seconds = 0;  // for the front; 0: it is not measured
};

/// "cores=1,2,4" as {"parameter","values"}; "psram_bytes=1048576:8388608:*2" as {"parameter","min","max","factor"};
/// "cores=1:8:+1" or "cores=1:8:1" with "step". Throws Error unknown_parameter, value_invalid, value_out_of_range,
/// not_modelled.
/// `option` is what said it.
Json axis_json(const std::string& text, const std::string& option = "--axis");

/// "psram_port_bits=conv_lanes_out * 256" of --link as {"parameter","formula"}. Throws Error value_invalid,
/// formula_invalid naming the option.
Json link_json(const std::string& text);

/// The change that --clone, --extend, --narrow or --retry ask for, and of which sweep; nothing without them. Throws
/// Error value_invalid, value_conflict where an option stands beside that is for a sweep of its own.
struct AskedRevision {
  std::int64_t parent = 0;
  Revision revision;
};
std::optional<AskedRevision> asked_revision(const SweepArguments& arguments);

/// The body of POST /sweeps: the file's, or one made of the options; with neither axes nor file, a first look over
/// what matters most. Throws Error value_invalid when both are given.
Json sweep_body(const SweepArguments& arguments);

/// An error at an entry of `list` ("/axes", "/links"), told with the option and the name that said it.
Error told_by_option(const Error& error, const std::string& list, const std::string& option,
                     const std::vector<std::string>& texts);
/// spec_from_json, its errors told by option.
SweepSpec said_spec(const SweepArguments& arguments, const Json& body);

}  // namespace sdip
