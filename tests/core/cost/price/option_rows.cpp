// Each option of the design space, as a row.
#include "tests/core/cost/price/option_rows.h"

namespace sdip {
namespace {

// Random programs and machines with every option drawn: cycles, stalls, beats, bytes.
constexpr std::string_view counted =
    "differential.random_programs_on_random_machines_count_the_same_by_formula_and_by_stepping";
constexpr std::string_view counted_parts =
    "differential.random_programs_count_the_same_in_any_role_with_any_part_hard_coded";
constexpr std::string_view counted_stacks =
    "differential.random_programs_count_the_same_where_psram_holds_the_stacks";
constexpr std::string_view counted_beside =
    "differential.random_programs_count_the_same_where_instructions_run_side_by_side";
// Ten thousand pairs, each row changed alone at least 500 times.
constexpr std::string_view toggled = "witness.random_pairs_count_the_same_by_formula_and_by_stepping";
// Frames: what the executor counts, put together without the estimate's formulas, energy and area included.
constexpr std::string_view frames =
    "counted_frame.of_pipelines_networks_and_parts_in_series_is_what_the_report_says";
constexpr std::string_view run = "pipeline.of_any_number_of_cores_and_steps_takes_what_the_estimate_predicts";
constexpr std::string_view run_network =
    "pipeline.of_a_network_runs_its_frames_side_by_side_or_its_parts_in_series";
// Compiled programs executed, against their graphs.
constexpr std::string_view lossless = "random.lossless_programs_compute_their_graphs";
constexpr std::string_view lossy = "random.lossy_programs_compute_their_graphs_with_the_losses_written_out";
constexpr std::string_view groups = "groups.of_a_product_are_summed_scaled_and_added_in_order";
constexpr std::string_view strips = "strips.of_any_height_compute_the_chain_with_halos_or_line_buffers";
constexpr std::string_view strip_norms = "random.chains_with_norms_in_strips_compute_their_graphs";
constexpr std::string_view occupied = "occupancy.of_random_networks_is_what_the_compiler_states";
constexpr std::string_view samplers = "differential.tiny_sd_counts_the_same_with_each_sampler";
constexpr std::string_view vc1902 = "fpga.a_step_of_tiny_sd_fits_vc1902_and_takes_what_it_steps";
constexpr std::string_view zynq7020 = "pynq_attention.a_frame_takes_what_its_commands_and_accesses_take";

constexpr OptionRow rows[] = {
    {"more cores", "essay", "cores=20", run},
    {"deeper pipelines", "essay", "pipeline_stages=16", counted},
    {"dataflow", "essay", "dataflow=weight", counted},
    {"dataflow", "essay", "dataflow=input", counted},
    {"accumulators", "essay", "accumulator_folds=16 weight_registers=1", counted},
    {"accumulators", "essay", "accumulator_folds=16 weight_registers=2", counted},
    {"accumulators", "essay accumulator_folds=16 weight_registers=2", "accumulator_folds=64", counted},
    {"shared MACs", "essay", "mac_sharing=shared", toggled},
    {"folding", "essay", "vector_lanes=128", counted},
    {"folding", "essay", "softmax_lanes=128", counted},
    {"folding", "essay", "norm_lanes=128", counted},
    {"folding", "essay", "transpose_lanes=32", counted},
    {"folding on ports", "essay", "dsram_port_bits=2048", counted},
    {"folding on ports", "essay", "psram_port_bits=4096", counted},
    {"folding on ports", "essay", "stackram_port_bits=2048", counted},
    {"buffering", "edge", "weight_buffering=single", counted},
    {"buffering", "edge", "tile_buffering=single", counted},
    {"DRAM", "essay", "dram_channels=4", counted},
    {"DRAM", "essay", "dram_rate_mtps=2400", counted},
    {"DRAM", "essay", "dram_efficiency=0.6", counted},
    {"DRAM", "edge", "dram_burst_bytes=256", counted},
    {"one activation memory", "edge", "activation_memory=unified", occupied},
    {"general branching", "edge stack_discipline=stack stackram_bytes=3145728", "stack_discipline=allocator",
     occupied},
    {"DSRAM for each operator", "essay", "operator_dsram=per_operator", counted_beside},
    {"DSRAM for each operator, of its own size", "edge operator_dsram=per_operator",
     "conv2d_dsram_bytes=4194304 transpose_dsram_bytes=524288", occupied},
    // Workload.
    {"distillation", "essay", "steps=4", run},
    {"guidance", "essay", "guidance=off", toggled},
    {"guidance", "essay", "guidance=two_passes", toggled},
    {"sampler", "essay", "sampler=ddpm", samplers},
    {"sampler", "essay", "sampler=euler", samplers},
    {"stream", "essay", "mode=image_to_image", run},
    {"batch", "edge", "batch=2", toggled},
    {"prompts", "essay", "prompt_per_frame=true", frames},
    {"VAE off chip", "essay", "vae_stage=off_chip", frames},
    {"VAE as circuits", "essay", "vae_stage=circuit", run},
    {"VAE as circuits of a quarter of the lanes", "edge vae_stage=circuit",
     "vae_decoder_conv_lanes_in=4 vae_decoder_vector_lanes=64 vae_decoder_softmax_lanes=64 "
     "vae_decoder_norm_lanes=64",
     run},
    {"a VAE decoder with memories of its own", "edge", "vae_decoder_dsram_bytes=8388608", run},
    {"a VAE decoder with memories of its own", "edge", "vae_decoder_stackram_bytes=4194304", run},
    {"a VAE decoder with memories of its own", "edge", "vae_decoder_psram_bytes=1048576", run},
    {"a VAE decoder with ports and lanes of its own", "essay",
     "vae_decoder_dsram_port_bits=1024 vae_decoder_conv_lanes_pixel=8", run},
    {"a VAE encoder with memories of its own", "edge mode=image_to_image", "vae_encoder_dsram_bytes=8388608", run},
    {"a text encoder with memories of its own", "essay prompt_per_frame=true",
     "text_encoder_dsram_bytes=4194304 text_encoder_psram_bytes=8388608", run},
    // Weights.
    {"resident weights", "essay sram_banks=256", "weight_storage=resident psram_bytes=2147483648", counted},
    {"hard-coded weights", "essay", "weight_storage=hard_coded", counted_parts},
    {"hard-coded weights, in part", "essay", "weight_storage=hard_coded hard_coded_part=text_encoder",
     counted_parts},
    {"VAE as circuits with their weights", "essay", "weight_storage=hard_coded hard_coded_part=vae", counted_parts},
    {"hard-coded weights, in part", "essay", "weight_storage=hard_coded hard_coded_part=core", counted_parts},
    {"weights kept", "essay", "psram_pinned_bytes=33554432", toggled},
    {"compressed weights", "essay", "weight_compression=2", counted},
    {"a slow decompressor", "essay weight_compression=2", "decompressor_bytes_per_cycle=64", counted},
    {"sparsity", "essay", "sparsity=gating weight_density=0.5", counted},
    {"sparsity", "essay", "sparsity=skipping weight_density=0.5", lossy},
    {"sparsity in a pattern", "essay weight_format=int8", "sparsity=skipping weight_density=0.5 sparsity_group=4",
     lossy},
    {"sparsity in a pattern", "essay weight_format=int8 sparsity=skipping weight_density=0.5", "sparsity_group=16",
     toggled},
    {"sparsity of activations", "essay", "sparsity=gating activation_density=0.6", frames},
    {"low-rank weights", "essay", "low_rank=on", lossless},
    {"low-rank weights", "essay low_rank=on", "low_rank_share=0.1", toggled},
    {"hoisted context", "essay", "hoisted_context=true", toggled},
    {"in-memory weights", "edge", "in_memory_weights=fefet", toggled},
    {"in-memory weights", "edge in_memory_weights=fefet", "fefet_input_bits=2", toggled},
    {"in-memory weights", "edge in_memory_weights=fefet", "fefet_columns_per_converter=8", toggled},
    {"per-core weights", "network: balanced cores=2", "core_weights=per_core", run_network},
    {"parallel branches", "network: balanced", "branches=parallel", run_network},
    {"parallel channels", "network: balanced", "branches=channels", run_network},
    // The compiler's.
    {"implicit transposition", "essay", "transposition=static", lossless},
    {"implicit transposition", "essay", "transposition=dynamic", lossless},
    {"layer fusion", "essay", "fusion=pointwise", lossless},
    {"layer fusion", "edge", "fusion=norm", lossless},
    {"layer fusion", "edge fusion=norm", "norm_statistics=producer", lossless},
    {"layer fusion", "edge fusion=norm strips=line_buffers norm_statistics=producer", "norm_statistics=recompute",
     strip_norms},
    {"attention fused", "edge", "fused_attention=on", lossless},
    {"attention overlapped", "edge fused_attention=on", "attention_parts=4", counted},
    {"attention overlapped", "essay fused_attention=on", "attention_parts=4", counted},
    {"products apart", "edge", "split_products=on", lossless},
    {"parts in place", "edge fusion=norm norm_statistics=producer", "part_views=on", lossless},
    {"chains fused", "edge split_products=on", "fused_chains=on", lossless},
    {"depth-first strips", "edge", "strips=halo_recompute", strips},
    {"depth-first strips", "edge", "strips=line_buffers", strips},
    {"skip connections", "essay", "skip_handling=spill", lossless},
    {"skip connections", "edge dsram_bytes=33554432 stackram_bytes=25165824", "skip_handling=recompute", lossless},
    {"schedule", "essay fusion=norm", "schedule=least_live", lossless},
    {"schedule", "edge dsram_bytes=33554432 stackram_bytes=6291456 fusion=norm", "schedule=least_live_thorough",
     toggled},
    {"tile search", "edge", "tile_search=greedy", toggled},
    {"tile search", "edge", "tile_search=sampled", toggled},
    {"tile search", "edge", "tile_goal=balanced", toggled},
    {"tile search", "edge", "tile_goal=cycles", toggled},
    {"tile search",
     "edge activation_memory=unified fused_attention=on psram_bytes=2097152 dsram_bytes=262144 "
     "stackram_bytes=262144",
     "memory_stair=true", toggled},
    // Control.
    {"granularity", "essay imem_bytes=16777216", "granularity=tile", counted},
    {"granularity", "essay imem_bytes=16777216", "granularity=micro", counted},
    {"streamed program", "essay imem_bytes=16384 program_storage=streamed", "imem_bytes=131072", counted},
    {"distributed sequencer", "essay", "sequencer=distributed", counted},
    {"dispatch", "essay", "dispatch_cycles=64", counted},
    {"software sequencing", "essay", "sequencer=host", counted},
    {"software sequencing", "essay sequencer=host", "host_command_cycles=205", counted},
    {"operators on the host", "essay", "host_operators=softmax", counted},
    {"operators on the host", "essay", "host_operators=softmax_and_norm", counted},
    {"operators on the host", "essay host_operators=softmax", "host_cycles_per_element=1", counted},
    {"operators on the host", "essay host_operators=softmax", "host_bus_bits=256", counted},
    {"operators on the host", "essay host_operators=softmax", "host_access_cycles=100", counted},
    {"operators on the host", "essay host_operators=softmax", "host_result_bits=32", counted},
    {"memory of the host", "edge", "host_memory=true", counted},
    {"composable circuits", "essay weight_format=int4 activation_format=int8 accumulator_format=int32",
     "composable_macs=on", toggled},
    {"crossbar between cores", "edge cores=4", "memory_hierarchy=crossbar", run},
    {"writable PSRAM", "edge", "memory_hierarchy=writable_psram", counted_stacks},
    {"DMA ports", "edge", "dma_port=own", toggled},
    {"dies in a line", "balanced", "dies=2", toggled},
    {"dies in a line", "balanced dies=2", "die_link_bits=512", toggled},
    {"dies in a line", "balanced dies=2", "die_link_cycles=40", toggled},
    // Quantisation.
    {"quantisation", "essay", "weight_format=bf16 activation_format=bf16", lossy},
    {"quantisation", "essay", "weight_format=fp8_e4m3", lossy},
    {"quantisation", "essay", "weight_format=fp8_e5m2", lossy},
    {"quantisation", "essay", "weight_format=int16", lossy},
    {"quantisation", "essay", "weight_format=int8", lossy},
    {"quantisation", "essay", "weight_format=uint8", lossy},
    {"quantisation", "essay", "weight_format=int4", lossy},
    {"quantisation", "essay", "weight_format=uint4", lossy},
    {"quantisation", "essay", "weight_format=q7_8 activation_format=q7_8", lossy},
    {"quantisation", "essay weight_format=int8", "scale_granularity=channel", lossy},
    {"quantisation", "essay weight_format=int4", "scale_granularity=group_32", groups},
    {"quantisation", "essay weight_format=int4", "scale_granularity=group_64", groups},
    {"quantisation", "essay weight_format=int4", "scale_granularity=group_128", groups},
    {"quantisation", "essay", "weight_format=mxint8", groups},
    {"quantisation", "essay", "weight_format=mxfp8", groups},
    {"quantisation", "essay", "weight_format=mxfp6", groups},
    {"quantisation", "essay", "weight_format=mxfp4", groups},
    {"quantisation", "essay", "weight_format=nvfp4", groups},
    {"quantisation", "essay", "weight_format=nf4", groups},
    {"quantisation", "essay", "weight_format=msfp12", groups},
    {"quantisation", "essay", "weight_format=int8 activation_format=int8 accumulator_format=int32", lossy},
    {"quantisation", "essay", "activation_format=fp32 weight_format=fp32", lossless},
    {"quantisation", "essay", "accumulator_format=fp16", toggled},
    // Technology: seconds, joules and square millimetres only.
    {"clock", "essay", "core_clock_mhz=500", frames},
    {"DRAM", "essay", "dram_latency_ns=200", counted},
    {"DRAM", "essay", "dram_turn_ns=64", counted},
    {"DRAM kind", "essay", "dram_kind=ddr3 dram_channels=40 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=ddr4 dram_channels=20 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=ddr5 dram_channels=32 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=lpddr4 dram_channels=128 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=lpddr4x dram_channels=64 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=lpddr5 dram_channels=64 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=lpddr5x dram_channels=32 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=gddr5 dram_channels=32 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=gddr6 dram_channels=16 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=gddr6x dram_channels=32 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=gddr7 dram_channels=32 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=hbm2 dram_channels=16 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=hbm3 dram_channels=8 dram_rate_mtps=0", frames},
    {"DRAM kind", "essay", "dram_kind=hbm3e dram_channels=8 dram_rate_mtps=0", frames},
    {"DRAM kind", "stream", "dram_kind=hbm2e", frames},
    {"DRAM kind", "edge", "dram_kind=lpddr5 dram_rate_mtps=0", frames},
    {"node", "essay", "technology_node=n5", frames},
    {"node", "essay", "technology_node=n16", frames},
    {"node", "essay", "technology_node=n28", frames},
    {"node", "essay", "technology_node=n45", frames},
    {"node", "essay", "technology_node=n65", frames},
    {"FPGA part", "edge", "technology_node=fpga_vc1902", vc1902},
    {"FPGA part, of a machine that fits it",
     "edge core_clock_mhz=400 conv_lanes_out=16 conv_lanes_in=16 conv_lanes_pixel=8 vector_lanes=64 "
     "softmax_lanes=64 "
     "norm_lanes=64",
     "technology_node=fpga_vc1902", vc1902},
    {"FPGA part", "edge", "technology_node=fpga_zynq7020", zynq7020},
    {"FPGA part, of a machine that fits it",
     "edge vae_stage=off_chip core_clock_mhz=100 conv_lanes_out=8 conv_lanes_in=8 conv_lanes_pixel=2 "
     "vector_lanes=16 "
     "softmax_lanes=8 norm_lanes=8 psram_port_bits=512 dsram_port_bits=512 stackram_port_bits=512 "
     "psram_bytes=196608 "
     "dsram_bytes=65536 stackram_bytes=65536 imem_bytes=65536",
     "technology_node=fpga_zynq7020", zynq7020},
    {"banks", "essay", "sram_banks=4", frames},
};

}  // namespace

std::span<const OptionRow> option_rows() { return rows; }

}  // namespace sdip
