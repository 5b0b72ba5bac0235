// Are whole explanations of small machines what they were, every line of them?
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/cost/explain/explain.h"
#include "tests/core/cost/explain/example.h"
#include "tests/core/cost/random_application.h"

namespace sdip {
namespace {

const std::string golden = std::string(SDIP_SOURCE_DIR) + "/tests/golden/explained_examples.txt";

/// Programs as core/cost/example.h has them; 7 and 12 are diagrams of docs/model/diagrams.md.
constexpr const char* examples[] = {
    "machine steps=2 linear_lanes_m=2 linear_lanes_n=2 linear_lanes_k=2 dsram_port_bits=16 psram_bytes=16\n"
    "i0 linear rows=3 sums=3 channels=5 tile_channels=2 tile_sums=2 a=dram b=psram to=dram\n"
    "i1 linear rows=3 sums=3 channels=5 tile_channels=2 tile_sums=2 a=dsram b=psram to=stackram\n",

    "machine steps=5 cores=2 dispatch_cycles=3 pipeline_stages=2 dram_bytes_per_cycle=0.75 dram_burst_bytes=4\n"
    "i0 softmax rows=2 length=6 passes=3 chunk=4 a=dram to=dram\n"
    "i1 vector rows=2 length=6 a=dsram to=dsram\n"
    "i2 vector rows=2 length=6 a=dsram to=dsram\n"
    "i3 matmul rows=2 sums=3 channels=2 a=stackram b=dram to=stackram\n",

    "machine sequencer=distributed dispatch_cycles=9 vector_lanes=4 dsram_port_bits=8\n"
    "i0 vector rows=3 length=6 a=dram to=dsram\n"
    "i1 softmax rows=1 length=9 passes=3 a=dsram to=dram\n",

    "machine matmul_lanes_m=2 matmul_lanes_n=2 matmul_lanes_k=2 softmax_lanes=4 dispatch_cycles=4\n"
    "i0 attention heads=2 rows=2 keys=7 depth=4 values=3 tile_keys=3 q=dram k=dram v=dram to=dram\n"
    "i1 attention rows=3 keys=4 depth=4 values=4 tile_rows=2 q=dsram k=stackram v=stackram to=dsram\n",

    "machine dsram_port_bits=8 psram_bytes=64 conv_lanes_in=2 dsram_bytes=2 stackram_bytes=3\n"
    "i0 strips convolutions=2 rows=5 channels=2 sums=2 kernel=3 tile_rows=2 a=dram to=dram\n"
    "i1 strips convolutions=2 rows=4 kernel=3 tile_rows=2 keeping=line_buffers a=dsram to=dram\n"
    "i2 conv2d rows=5 channels=2 sums=2 kernel=3 tile_rows=2 a=dram b=psram to=dram\n",

    "machine host_operators=softmax host_command_cycles=5 host_bus_bits=16 weight_storage=hard_coded\n"
    "i0 softmax rows=2 length=5 passes=3 a=dram to=dram\n"
    "i1 linear rows=2 sums=2 channels=2 a=dsram b=psram to=dsram\n",

    "machine program_storage=streamed imem_bytes=400 dram_bytes_per_cycle=0.5\n"
    "i0 vector rows=1 length=4 words=4 a=dsram to=dsram\n"
    "i1 vector rows=1 length=4 words=8 a=dram to=dsram\n"
    "i2 linear rows=1 sums=2 channels=2 words=8 a=dsram b=psram to=dram held=2\n",

    "machine operator_dsram=per_operator activation_memory=separate program_storage=streamed imem_bytes=400\n"
    "i0 vector rows=1 length=8 a=dsram to=dsram\n"
    "i1 linear rows=2 sums=4 channels=2 a=dram b=psram to=dsram\n"
    "i2 matmul rows=1 sums=8 channels=1 after=1 a=dsram b=dsram to=dram\n",

    "machine granularity=tile dispatch_cycles=2 pipeline_stages=1 dram_bytes_per_cycle=0.5\n"
    "i0 matmul rows=3 sums=4 channels=1 tile_rows=1 a=dram b=stackram to=dram\n",

    "machine tile_buffering=single weight_buffering=single dram_bytes_per_cycle=0.5\n"
    "i0 linear rows=4 sums=4 channels=4 tile_channels=2 tile_rows=2 a=dsram b=psram to=dram\n"
    "i1 linear rows=1 sums=4 channels=4 tile_channels=2 tile_sums=2 order=sums-outermost a=dsram b=stackram "
    "to=dram\n"
    "i2 vector rows=4 length=1 a=stackram to=dram\n",

    "machine weight_compression=1.50 decompressor_bytes_per_cycle=1 dram_bytes_per_cycle=4 "
    "activation_format=int4 matmul_lanes_k=2\n"
    "i0 linear rows=1 sums=64 channels=32 tile_channels=16 a=dsram b=psram to=dsram\n"
    "i1 matmul rows=3 sums=3 channels=3 a=dsram b=stackram to=dram+stackram\n",

    "machine granularity=micro dispatch_cycles=2 pipeline_stages=3 vector_lanes=2 dram_bytes_per_cycle=0.5\n"
    "i0 softmax rows=4 length=3 passes=3 a=dram to=dram\n"
    "i1 linear rows=6 sums=2 channels=2 tile_rows=2 a=dram b=psram to=dram\n",

    "machine dsram_bytes=1 stackram_bytes=1\n"
    "i0 linear rows=6 sums=2 channels=3 tile_rows=2 a=dsram b=psram to=dram\n"
    "i1 conv2d rows=5 rows_in=7 sums=2 channels=2 kernel=3 tile_rows=2 a=stackram b=psram to=dsram\n"
    "i2 matmul rows=3 sums=2 channels=4 a=dram b=stackram to=stackram\n"
    "i3 attention heads=2 rows=3 keys=4 depth=2 values=3 q=dsram k=stackram v=dram to=dsram\n"
    "i4 softmax rows=2 length=3 passes=3 a=stackram to=dsram\n",

    // The weights come while i0 works, all but the last cycle of them.
    "machine psram_bytes=8 dram_bytes_per_cycle=0.5\n"
    "i0 vector rows=1 length=11 a=dsram to=dsram\n"
    "i1 linear rows=1 sums=1 channels=8 a=dsram b=psram to=dsram\n",

    "machine activation_memory=unified dataflow=weight mac_sharing=shared\n"
    "i0 linear rows=3 sums=2 channels=2 a=stackram b=psram to=stackram\n"
    "i1 matmul rows=3 sums=2 channels=2 a=dsram b=stackram to=dsram+stackram\n",

    "machine accumulator_folds=4 weight_registers=2 linear_lanes_k=2 psram_port_bits=8 attention_parts=3\n"
    "i0 linear rows=5 sums=6 channels=2 a=dsram b=psram to=dsram\n"
    "i1 attention heads=2 rows=7 keys=7 depth=4 values=3 tile_keys=3 q=dsram k=stackram v=stackram to=dsram\n",

    "machine accumulator_folds=3 weight_registers=1 linear_lanes_m=2 weight_storage=hard_coded\n"
    "i0 linear rows=5 sums=6 channels=2 a=dsram b=psram to=dsram\n"
    "i1 matmul rows=5 sums=6 channels=2 tile_sums=4 a=dsram b=stackram to=dsram\n",
};
/// Drawn beside those of application_roles: what makes the text, and no core.
const std::vector<Role> other_roles[] = {{Role::text_encoder, Role::decoder},
                                         {Role::text_encoder, Role::network},
                                         {Role::text_encoder, Role::network, Role::network}};
constexpr std::size_t drawn_applications = 12;

void print(std::ostream& out, const std::vector<FilledTerm>& terms) {
  for (const FilledTerm& t : terms) {
    out << "    " << t.what << " (" << t.section << ") " << t.value << ' ' << unit_of(t) << " = " << t.numbers;
    const bool of_several = t.what == "compute" || t.what == "work" || t.what == "bound_cycles";
    out << (of_several ? ": " + t.formula : "") << '\n';
  }
}

void print(std::ostream& out, const Needs& needs) {
  for (const std::int64_t need : needs) out << ' ' << need;
}

void print(std::ostream& out, const LayerNeeds& l) {
  out << "  layer " << l.stage << '.' << l.index << ": " << l.cycles << " cycles, needs";
  print(out, l.needs);
  out << ", " << needed_text(l.limiter) << " limits, " << l.macs << " macs, " << l.dram_bytes << " B\n";
}

void print(std::ostream& out, const StageExplanation& s) {
  out << "  " << s.name << " of role " << static_cast<int>(s.role) << ": " << s.cycles << " cycles x "
      << s.passes_per_frame << " a frame, needs";
  print(out, s.needs);
  out << ", limited";
  print(out, s.limited);
  out << ", " << needed_text(s.limiter) << " limits, bound " << s.bound_cycles << ", " << s.dram_bytes
      << " B, bound " << s.bound_dram_bytes << ", " << s.active_cores << " cores, " << s.mac_lanes
      << " lanes, rate " << s.rate.p << '/' << s.rate.q << '\n';
  print(out, s.bounds);
}

/// All that it says; but, where `short_layers`, of layers only what they need and their least traffic.
void print(std::ostream& out, const Explanation& e, bool short_layers) {
  out << "  " << (e.feasible ? "feasible" : "infeasible: " + e.reason) << '\n';
  if (e.stages.empty()) return;
  out << "  pace " << e.pace << ", " << needed_text(e.limiter()) << " limits\n";
  print(out, e.terms);
  for (const StageExplanation& s : e.stages) print(out, s);
  for (const LayerNeeds& l : e.layers) print(out, l);
  for (const LayerExplanation& l : e.worst) {
    out << "  kind of layer " << l.layer.stage << '.' << l.layer.index << ", alike";
    for (const std::size_t index : l.alike) out << ' ' << index;
    out << (l.written_out ? ", written out" : ", counted") << ", slack " << l.slack(Needed::dsram_read)
        << ", bounds " << l.bound_cycles << ' ' << l.least_dram_bytes << '\n';
    std::vector<FilledTerm> terms = l.terms;
    if (short_layers)
      std::erase_if(terms,
                    [](const FilledTerm& t) { return t.what != "overhead" && t.what != "least_dram_bytes"; });
    print(out, terms);
  }
}

/// Explanations of the examples, and of drawn applications of every kind the shorter ones.
std::string explained(std::size_t example) {
  std::ostringstream out;
  Machine m;
  if (example < std::size(examples)) {
    const Application application = example_of(examples[example], m);
    out << "example " << example << "\n" << examples[example];
    if (!application.feasible) throw std::runtime_error(std::string("no machine for ") + examples[example]);
    print(out, explain(application, m, SIZE_MAX), false);
  } else {
    const std::uint64_t seed = example - std::size(examples);
    Dice dice(seed);
    m = random_frame_machine(dice);
    const bool other = seed % 4 == 3;
    Application application =
        random_application(dice, other ? other_roles[seed / 4 % 3] : application_roles(seed), m);
    if (other && application.stages.size() == 2)
      for (CompiledStage& stage : application.stages) stage.part = {};
    m.dsram_bytes = dice.between(1, 20);
    m.stackram_bytes = dice.between(0, 20);
    out << "example " << example << ": drawn application " << seed << '\n';
    print(out, explain(application, m, 4), true);
  }
  return out.str();
}

std::string text_of_golden() {
  std::stringstream text;
  text << std::ifstream(golden).rdbuf();
  return text.str();
}

TEST(explain_examples, are_the_golden) {
  const char* const update = std::getenv("SDIP_UPDATE_DOCS");
  std::string all;
  const std::string known = text_of_golden();
  for (std::size_t i = 0; i < std::size(examples) + drawn_applications; ++i) {
    const std::string text = explained(i);
    if (update == nullptr) {
      ASSERT_NE(known.find(text), std::string::npos) << text << "SDIP_UPDATE_DOCS=1 writes it";
    }
    all += text;
  }
  if (update != nullptr && std::string(update) == "1") std::ofstream(golden) << all;
  EXPECT_EQ(all, text_of_golden());
}

}  // namespace
}  // namespace sdip
