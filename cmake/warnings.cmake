# Warnings are errors in our own code; system headers are quiet.
add_library(sdip_warnings INTERFACE)
target_compile_options(sdip_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wcast-qual -Wundef -Werror)
# g++ 12 sees overlaps in std::string that are not there at -O3 (GCC bug 105651), and reads behind what a
# boost::container::small_vector holds within itself.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sdip_warnings INTERFACE -Wno-restrict $<$<CONFIG:Release>:-Wno-stringop-overread>)
endif()
