// What a comparison says of its own cells: bounds, checks, formats, areas, processes and sources, alike in every
// output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/baseline/device_space.h"
#include "core/machine/dram.h"
#include "server/cli/text/comparison_cells.h"
#include "server/cli/text/comparison_table.h"
#include "server/studies/comparison_parts.h"
#include "tests/server/comparison/rows.h"

namespace sdip {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string csv_of(const std::vector<ComparisonRow>& rows) {
  std::ostringstream out;
  write_comparison_csv(out, rows);
  return out.str();
}
std::string markdown_of(const std::vector<ComparisonRow>& rows, std::optional<TechnologyNode> node = {}) {
  std::ostringstream out;
  write_comparison_markdown(out, rows, node);
  return out.str();
}
std::string latex_of(const std::vector<ComparisonRow>& rows, std::optional<TechnologyNode> node = {}) {
  std::ostringstream out;
  write_comparison_latex(out, rows, node);
  return out.str();
}
std::string text_of(const std::vector<ComparisonRow>& rows, std::optional<TechnologyNode> node = {}) {
  std::ostringstream out;
  print_comparison(out, rows, node, false);
  print_losses(out, rows, false);
  return out.str();
}

/// Cells of the lines of a CSV without line breaks in cells.
std::vector<std::vector<std::string>> parsed(const std::string& csv) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (const char c : csv) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      lines.back().emplace_back();
    else if (c == '\n' && !quoted)
      lines.push_back({""});
    else
      lines.back().back() += c;
  }
  lines.pop_back();
  return lines;
}

std::string csv_cell_of(const std::string& csv, const std::string& machine, const std::string& title) {
  const auto lines = parsed(csv);
  const auto column = std::ranges::find(lines[0], title) - lines[0].begin();
  for (const auto& line : lines)
    if (line[0] == machine) return line.at(static_cast<std::size_t>(column));
  return "no such machine";
}

TEST(own_bounds, are_below_every_batch_that_the_model_makes) {
  for (const char* model : {"sd15", "tiny-sd", "resnet50"}) {
    ComparisonAsked asked = asked_of(model, {});
    for (const Preset& preset : presets()) add_preset(asked, preset);
    asked.batches = {1, 3, 8, 64};
    const auto rows = comparison_rows(Catalog(), asked);
    int bounds = 0;
    for (const ComparisonRow& row : rows) {
      if (!row.id.starts_with("bound:")) continue;
      ++bounds;
      const ComparisonRow& own = row_of(rows, row.id.substr(6), row.batch);
      EXPECT_LE(*row.value("latency_s"), *own.value("latency_s")) << model << " " << row.id << " " << row.batch;
      EXPECT_LE(*row.value("utilization"), 1) << model << " " << row.id << " " << row.batch;
    }
    EXPECT_GE(bounds, 16) << model;
  }
}

TEST(own_bounds, have_dram_and_the_cores_that_can_work_on_a_batch) {
  ComparisonAsked asked = asked_of("sd15", {});
  asked.batches = {1, 10, 20};
  const auto rows = comparison_rows(Catalog(), asked);
  const Machine& m = asked.machines[0].machine;
  double bytes = 0;
  for (const LayeredStage& stage : layered_work(built_in_workloads(), "sd15", m))
    bytes += static_cast<double>(stage.passes_per_frame) *
             static_cast<double>(stage.weight_elements + stage.input_elements + stage.output_elements);
  const ComparisonRow& one = row_of(rows, "bound:sdip", 1);
  EXPECT_NEAR(*one.value("dram_bytes_per_frame"), bytes, 1e-9 * bytes) << "int8: a byte an element";
  EXPECT_NEAR(one.memory_s.value(), bytes / (dram_channels(m).peak_gb_per_s() * 1e9), 1e-9 * one.memory_s.value());
  // A frame is on one core of ten; more than ten frames find no more cores.
  const ComparisonRow &ten = row_of(rows, "bound:sdip", 10), &twenty = row_of(rows, "bound:sdip", 20);
  EXPECT_NEAR(ten.compute_s.value(), one.compute_s.value(), 0.01 * one.compute_s.value());
  EXPECT_NEAR(twenty.compute_s.value(), 2 * ten.compute_s.value(), 0.01 * ten.compute_s.value());
}

TEST(checked, is_measured_here_near_or_unvalidated_by_cell) {
  ComparisonAsked asked = asked_of("sd15", {"a800", "tpu_v4", "apple_m2"});
  auto rows = comparison_rows(Catalog(), asked);
  EXPECT_EQ(row_of(rows, "a800", 1).checked, Checked::here);
  EXPECT_EQ(row_of(rows, "a800", 8).checked, Checked::near) << "its images are of a batch of one";
  EXPECT_EQ(row_of(rows, "tpu_v4", 1).checked, Checked::unvalidated);
  EXPECT_EQ(row_of(rows, "sdip", 1).checked, Checked::unvalidated) << "nobody has built it";
  EXPECT_EQ(row_of(rows, "apple_m2", 1).checked, Checked::no) << "a bound predicts nothing";
  EXPECT_EQ(csv_cell_of(csv_of(rows), "NVIDIA A800 SXM4 80 GB", "checked"), "here");
  EXPECT_THAT(text_of(rows), HasSubstr("predicted [m]"));
  EXPECT_THAT(markdown_of(rows), HasSubstr("<sup>1,m</sup>"));
  EXPECT_THAT(latex_of(rows), HasSubstr("$^{\\mathrm{1,m}}$"));
  for (const std::string& text : {text_of(rows), markdown_of(rows), latex_of(rows)})
    EXPECT_THAT(text, HasSubstr("unvalidated: nothing of the kind was measured on it"));
  asked.model = "resnet50";
  rows = comparison_rows(Catalog(), asked);
  EXPECT_EQ(row_of(rows, "a800", 1).checked, Checked::unvalidated) << "no diffusion";
}

TEST(checked, is_not_by_eager_runs) {
  Measurement eager;
  eager.software = "PyTorch eager";
  eager.model = "sd15";
  Measurement compiled = eager;
  compiled.software = "a compiler";
  Compared one, other;
  one.measurement = &eager;
  other.measurement = &compiled;
  const std::vector<Compared> by_eager{one}, by_both{one, other};
  EXPECT_EQ(checked_by(by_eager, "sd15", true, false), Checked::unvalidated);
  EXPECT_EQ(checked_by(by_both, "sd15", true, false), Checked::near);
  EXPECT_EQ(checked_by(by_both, "sdxl", true, false), Checked::near) << "a diffusion pipeline, too";
  EXPECT_EQ(checked_by(by_both, "resnet50", false, false), Checked::unvalidated);
}

TEST(processes, are_said_wherever_all_are_drawn_in_one) {
  ComparisonAsked asked = asked_of("tiny-sd", {"t4", "tpu_v5e"});
  asked.batches = {1};
  const auto own = comparison_rows(Catalog(), asked);
  EXPECT_EQ(row_of(own, "sdip").process, "n7");
  EXPECT_EQ(row_of(own, "t4").process, "12 nm");
  EXPECT_TRUE(row_of(own, "t4").value("design_energy_j_per_frame"));
  asked.node = TechnologyNode::n5;
  const auto rows = comparison_rows(Catalog(), asked);
  EXPECT_EQ(row_of(rows, "sdip").process, "n5");
  EXPECT_EQ(row_of(rows, "t4").process, "n5, scaled from 12 nm");
  EXPECT_EQ(row_of(rows, "t4").area_basis, AreaBasis::drawn);
  EXPECT_EQ(row_of(rows, "tpu_v5e").process, "not scaled: lacks node_nm");
  EXPECT_FALSE(row_of(rows, "t4").value("design_energy_j_per_frame")) << "it is of another process";
  EXPECT_THAT(row_of(rows, "t4").notes, Not(Contains(HasSubstr("cannot keep that clock"))));
  EXPECT_EQ(csv_cell_of(csv_of(rows), "NVIDIA T4", "process"), "n5, scaled from 12 nm");
  for (const std::string& text :
       {text_of(rows, asked.node), markdown_of(rows, asked.node), latex_of(rows, asked.node)})
    EXPECT_THAT(text, HasSubstr("All drawn in n5"));
  EXPECT_THAT(markdown_of(own), Not(HasSubstr("All drawn in")));
}

TEST(columns, have_energy_with_the_factor_and_whose_it_is) {
  ComparisonAsked asked = asked_of("sd15", {"a800"});
  asked.batches = {1};
  const auto rows = comparison_rows(Catalog(), asked);
  const ComparisonRow& row = row_of(rows, "a800");
  const std::string csv = csv_of(rows);
  EXPECT_EQ(csv_cell_of(csv, row.name, "software of the factor"), row.calibration->software);
  EXPECT_DOUBLE_EQ(std::stod(csv_cell_of(csv, row.name, "calibrated energy_j_per_frame [J]")),
                   *row.likely("energy_j_per_frame"));
  EXPECT_THAT(markdown_of(rows), HasSubstr("energy, calibrated"));
  EXPECT_THAT(markdown_of(rows), HasSubstr("| " + row.calibration->software + " |"));
  EXPECT_THAT(latex_of(rows), HasSubstr("$E_c$ &"));
}

TEST(losses, are_of_every_machine_of_ours_and_say_formats) {
  ComparisonAsked asked = asked_of("sd15", {"a100", "tpu_v4"});
  add_preset(asked, *find_preset("essay"));
  asked.batches = {1};
  const auto rows = comparison_rows(Catalog(), asked);
  const auto losses = losses_of(rows);
  for (const char* ours : {"sdip", "sdip:essay"}) EXPECT_THAT(losses, Contains(testing::Field(&Loss::ours, ours)));
  for (const Loss& loss : losses) {
    EXPECT_EQ(loss.our_format, loss.ours == "sdip" ? "int8" : "fp16");
    const auto mine = row_of(rows, loss.ours).value(loss.metric);
    const auto theirs = row_of(rows, loss.id).likely(loss.metric);
    EXPECT_NEAR(loss.times, std::max(*mine / *theirs, *theirs / *mine), 1e-9 * loss.times);
  }
  EXPECT_TRUE(row_of(rows, "a100").other_format);
  EXPECT_TRUE(row_of(rows, "sdip:essay").other_format);
  EXPECT_FALSE(row_of(rows, "sdip").other_format);
  EXPECT_EQ(csv_cell_of(csv_of(rows), "NVIDIA A100 SXM 80 GB", "format as ours"), "no");
  for (const std::string& text : {text_of(rows), markdown_of(rows), latex_of(rows)}) {
    EXPECT_THAT(text, HasSubstr("SDIP essay loses"));
    EXPECT_THAT(text, HasSubstr("fp16 beside int8"));
  }
  EXPECT_THAT(text_of(rows), HasSubstr("fp16 [f]"));
  EXPECT_THAT(markdown_of(rows), HasSubstr("fp16<sup>f</sup>"));
  EXPECT_THAT(latex_of(rows), HasSubstr("fp16$^{\\mathrm{f}}$"));
}

TEST(presets_beside, make_the_frames_of_the_first_machine) {
  ComparisonAsked asked = asked_of("tiny-sd", {});
  asked.machines[0].machine.steps = 4;
  asked.machines[0].machine.guidance = Guidance::off;
  add_preset(asked, *find_preset("edge"));
  EXPECT_EQ(asked.machines.at(1).machine.steps, 4);
  EXPECT_EQ(asked.machines.at(1).machine.guidance, Guidance::off);
}

TEST(areas, that_are_estimated_are_marked_in_the_cells_that_lean_on_them) {
  ComparisonAsked asked = asked_of("tiny-sd", {"tpu_v4", "a100"});
  std::vector<Device> own;
  add_device_spaces({{"tpu_v4i", {{"arrays", {2}}}}}, own, "--vary");
  asked.devices.push_back(&own.at(0));
  asked.batches = {1};
  const auto rows = comparison_rows(Catalog(), asked);
  EXPECT_EQ(row_of(rows, "tpu_v4").area_basis, AreaBasis::lanes);
  EXPECT_EQ(row_of(rows, own[0].id).area_basis, AreaBasis::lanes);
  EXPECT_EQ(row_of(rows, "a100").area_basis, AreaBasis::published);
  EXPECT_EQ(row_of(rows, "sdip").area_basis, AreaBasis::modelled);
  EXPECT_EQ(csv_cell_of(csv_of(rows), "Google TPU v4", "area is"), "lanes");
  EXPECT_THAT(text_of(rows), HasSubstr("J [e]"));
  EXPECT_THAT(markdown_of(rows), HasSubstr("J<sup>e</sup>"));
  EXPECT_THAT(latex_of(rows), HasSubstr("J$^{\\mathrm{e}}$"));
  EXPECT_THAT(text_of(comparison_rows(Catalog(), asked_of("tiny-sd", {"a100"}))), Not(HasSubstr("[e]")));
}

TEST(sources, stand_below_the_table_and_in_a_column) {
  ComparisonAsked asked = asked_of("tiny-sd", {"a100", "ipu_bow"});
  const auto rows = comparison_rows(Catalog(), asked);
  const auto sources = sources_of(row_of(rows, "a100"));
  ASSERT_FALSE(sources.empty());
  for (std::size_t i = 0; i < sources.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(sources[i].source, sources[j].source) << "once";
  EXPECT_TRUE(sources_of(row_of(rows, "sdip")).empty());
  const auto lines = parsed(csv_of(rows));
  for (const auto& line : lines) EXPECT_EQ(line.size(), lines[0].size()) << line[0];
  EXPECT_EQ(lines.size(), rows.size() + 1);
  EXPECT_THAT(csv_cell_of(csv_of(rows), "NVIDIA A100 SXM 80 GB", "sources"), HasSubstr(sources[0].figures));
  EXPECT_THAT(markdown_of(rows), HasSubstr("\n1. NVIDIA A100 SXM 80 GB. "));
  EXPECT_THAT(markdown_of(rows), HasSubstr("\n2. "));
  EXPECT_THAT(latex_of(rows), HasSubstr("$^{2}$ "));
}

TEST(stopping, is_asked_between_batches_of_a_device_and_what_was_measured) {
  int asked_times = 0;
  const Stop third = [&] { return ++asked_times == 3; };
  const auto work = layered_work(built_in_workloads(), "tiny-sd", Machine{});
  EXPECT_THROW(run_device(*find_device("epyc_9654"), work, 4096, false, third), Error);
  EXPECT_EQ(asked_times, 3);
  Device own = *find_device("a100_40gb");
  own.id = "own";
  asked_times = 0;
  EXPECT_THROW(measured_beside_model(own, third), Error);
  EXPECT_EQ(asked_times, 3) << "it has a dozen measured results";
}

}  // namespace
}  // namespace sdip
