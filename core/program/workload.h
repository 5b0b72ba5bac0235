// What a machine is asked to run: one or more networks, each in its place in the frame's way through SDIP.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// text_encoder: once a prompt, before streaming; encoder, decoder: the VAE, once a frame; core: a diffusion step,
/// run `steps` times over the cores in series; network: any other model, one pass a frame, N frames on N cores.
enum class Role { text_encoder, encoder, core, decoder, network };
std::string_view role_text(Role role);

struct Stage {
  Role role = Role::network;
  std::string name;
  Graph graph;  // rewritten
  RewriteCounts rewrites;
};

struct Workload {
  std::string name;
  std::vector<Stage> stages;  // in the order a frame meets them
};

}  // namespace sdip
