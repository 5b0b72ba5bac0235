// The parts that comparisons of all kinds share.
#include "core/exec/clock/comparison.h"

#include "core/base/error.h"

namespace sdip::exec {

void Comparison::fail(const std::string& what, std::int64_t amount, std::int64_t charged) const {
  throw Error("execution_failed", who,
              fmt::format("{} moved {} of {}, but is charged {}", who, amount, what, charged));
}

std::int64_t Comparison::total(Stream stream, Through memory) const {
  std::int64_t bits = 0;
  for (const TileTransfers& t : moved.operations) bits += t(stream, memory);
  return bits;
}

void Comparison::require_results(const std::vector<Operation>& operations) const {
  const bool unified = is_unified(m);
  const std::int64_t results = c.out_elements * bits_of(c.formats ? c.formats->results : m.activation_format);
  std::int64_t charged_bytes = 0;
  for (const Operation& o : operations) charged_bytes += o.out_bytes;
  require("results to DRAM, bits in all", total(Stream::results, Through::dram), c.to_dram ? results : 0);
  if (c.to_dram) require_at_most("results to DRAM, bits in all", results, 8 * charged_bytes);
  const bool kept = c.to_dsram || (unified && c.push);  // one memory has it once
  require("results to DSRAM, bits in all", total(Stream::results, Through::dsram), kept ? results : 0);
  require("results to STACKRAM, bits in all", total(Stream::results, Through::stackram),
          c.push && !unified ? results : 0);
}

void Comparison::require_beats(const Operation& o, const TileTransfers& t, std::size_t number) const {
  const auto within = [&](Through memory, std::int64_t beats, std::int64_t port) {
    require_at_most("results in tile operation " + std::to_string(number), t(Stream::results, memory),
                    beats * port);
  };
  within(Through::dsram, o.needs[Port::dsram_write], m.dsram_port_bits);
  if (psram_holds_stacks(m))
    within(Through::stackram, o.needs.psram_stack, m.psram_port_bits);
  else
    within(Through::stackram, o.needs[Port::stackram_write], m.stackram_port_bits);
}

}  // namespace sdip::exec
