# Sources of `target` that are compiled together, as one, but with SDIP_ALONE: the headers that they share are read, and
# their templates made, once. What each keeps to itself must then differ in name within the group.
function(sdip_compile_together target group)
  if(SDIP_ALONE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # What a source keeps to itself counts as a header's where the source is included.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()

# The same in groups of `most` sources or a few less, in the order given. What each keeps to itself must differ in
# name within all of them: a source that is added moves others to the next group.
function(sdip_compile_in_groups target group most)
  list(LENGTH ARGN sources)
  if(sources EQUAL 0)
    return()
  endif()
  math(EXPR groups "(${sources} + ${most} - 1) / ${most}")
  foreach(n RANGE 1 ${groups})
    math(EXPR first "(${n} - 1) * ${sources} / ${groups}")
    math(EXPR length "${n} * ${sources} / ${groups} - ${first}")
    list(SUBLIST ARGN ${first} ${length} grouped)
    sdip_compile_together(${target} ${group}_${n} ${grouped})
  endforeach()
endfunction()
