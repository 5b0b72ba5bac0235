# SDIP::pagmo, whose archive is linked and not its shared library: loading 21 MB takes 12 ms at each start of the
# program, of which every upload's evaluation is one. Its own CMake package would ask for IPOPT and NLopt, too.
find_path(PAGMO_INCLUDE_DIR pagmo/algorithm.hpp REQUIRED)
find_library(PAGMO_ARCHIVE libpagmo.a REQUIRED)
find_library(BOOST_SERIALIZATION_ARCHIVE libboost_serialization.a REQUIRED)
find_library(TBB_LIBRARY tbb REQUIRED)
add_library(SDIP::pagmo INTERFACE IMPORTED)
target_include_directories(SDIP::pagmo SYSTEM INTERFACE ${PAGMO_INCLUDE_DIR})
target_link_libraries(SDIP::pagmo INTERFACE ${PAGMO_ARCHIVE} ${BOOST_SERIALIZATION_ARCHIVE} ${TBB_LIBRARY})
