# Libraries under the vendor's names: programs that were linked elsewhere load them when the library path points here.
# They are empty, but for functions that meant something else then, and bring ours along, which has the functions. The numbered ones carry the symbol version that such
# programs ask for.
add_custom_target(dropin)
function(add_dropin soname library)
  string(MAKE_C_IDENTIFIER ${soname} target)
  set(empty ${CMAKE_CURRENT_BINARY_DIR}/empty.cc)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")
  add_library(${target} SHARED ${empty} ${ARGN})
  target_link_libraries(${target} PRIVATE -Wl,--no-as-needed ${library} -Wl,--as-needed)
  target_link_options(${target} PRIVATE -Wl,-soname,${soname})
  if(NOT soname MATCHES "-")  # linkers take no hyphen in a version's name
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${soname}.map CONTENT "${soname} { global: *; };\n")
    target_link_options(${target} PRIVATE -Wl,--version-script,${CMAKE_CURRENT_BINARY_DIR}/${soname}.map)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${soname} SUFFIX "" NO_SONAME ON)
  add_dependencies(dropin ${target})
endfunction()
