# Libraries that programs load, and programs that run on any Linux, bring the C++ library that they were compiled with: the one that is
# there may be older, or another's. Nothing of it is seen from outside.
file(WRITE ${CMAKE_BINARY_DIR}/self_contained.map "{ global: _ZN8warpbeam*; _ZNK8warpbeam*; local: _Z*; };\n")
function(wb_link_self_contained)
  foreach(target ${ARGN})
    if(TARGET ${target})
      target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
      get_target_property(type ${target} TYPE)
      if(type STREQUAL "SHARED_LIBRARY")
        target_link_options(${target} PRIVATE LINKER:--version-script,${CMAKE_BINARY_DIR}/self_contained.map)
      endif()
      if(NOT WARPBEAM_SANITIZE AND NOT WARPBEAM_FUZZ)  # whose own libraries are in the program
        target_link_options(${target} PRIVATE -static-libstdc++)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:wb_older_glibc>)
      endif()
    endif()
  endforeach()
endfunction()
