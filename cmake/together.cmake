# Sources of `target` that are compiled together, as one: the headers that they share are read, and their templates
# made, once. What each keeps to itself must then differ in name within the group.
function(sdip_compile_together target group)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()
