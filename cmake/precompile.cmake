# Headers read once for a target: half of what most sources take is the standard library's. With SDIP_ALONE every source
# is compiled alone, which also tells what forgets an include.
set(SDIP_STANDARD_HEADERS <algorithm> <array> <bit> <cmath> <cstdint> <fmt/core.h> <functional> <limits> <map> <memory> <optional> <set> <span>
  <sstream> <string> <string_view> <tuple> <utility> <variant> <vector>)

# Usage: sdip_precompile(TARGET [more headers]), or sdip_precompile(TARGET FROM OTHER) with another target's, made with
# the same options.
function(sdip_precompile target)
  if(SDIP_ALONE)
    return()
  endif()
  # What is precompiled is no system header to the warnings of g++ 12's optimiser, which see what is not there in
  # std::string (GCC bug 105651).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "FROM" "")
  if(given_FROM)
    target_precompile_headers(${target} REUSE_FROM ${given_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${SDIP_STANDARD_HEADERS} ${given_UNPARSED_ARGUMENTS})
  endif()
endfunction()
