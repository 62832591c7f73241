# find_package(Warpbeam) for projects that are built with it:
#
#   find_package(Warpbeam REQUIRED)   # -DWarpbeam_ROOT=<where Warpbeam's sources are, or where it is installed>
#   warpbeam_add_executable(app main.cu host.cpp)
#   warpbeam_add_library(kernels STATIC kernels.cu RDC ARCHITECTURES 70 90 OPTIONS --use_fast_math)
#   target_link_libraries(app PRIVATE kernels)
#
# CUDA sources are compiled by `warpbeam nvcc`, everything else by the project's own compilers. Include directories,
# definitions and C++ standard of the target apply to its CUDA sources too. The target Warpbeam::runtime is the CUDA
# runtime, for targets that only call its API.
#
# Projects that use CMake's own CUDA language need none of this: configure them with
# -DCMAKE_CUDA_COMPILER=<Warpbeam>/build/release/bin/nvcc (or <prefix>/bin/nvcc); find_package(CUDAToolkit) then finds CUDA::cudart too.
cmake_minimum_required(VERSION 3.20)

get_filename_component(Warpbeam_HOME "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
get_filename_component(Warpbeam_BUILD "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)  # where this is installed
if(EXISTS "${Warpbeam_BUILD}/bin/warpbeam" AND EXISTS "${Warpbeam_BUILD}/include/warpbeam/prelude.h")
  set(Warpbeam_HOME "${Warpbeam_BUILD}")
else()
  set(Warpbeam_PRESET release CACHE STRING "Which build of Warpbeam to use")
  set(Warpbeam_BUILD "${Warpbeam_HOME}/build/${Warpbeam_PRESET}")
endif()
if(NOT EXISTS "${Warpbeam_BUILD}/bin/warpbeam" OR NOT EXISTS "${Warpbeam_BUILD}/lib/libwarpbeam.so")
  message(STATUS "Building Warpbeam once")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env WARPBEAM_PRESET=${Warpbeam_PRESET} "${Warpbeam_HOME}/warpbeam" build
                  RESULT_VARIABLE Warpbeam_BUILT)
  if(NOT Warpbeam_BUILT EQUAL 0)
    set(Warpbeam_FOUND FALSE)
    set(Warpbeam_NOT_FOUND_MESSAGE "Warpbeam could not be built: run ${Warpbeam_HOME}/warpbeam build")
    return()
  endif()
endif()
set(Warpbeam_COMPILER "${Warpbeam_BUILD}/bin/warpbeam")
set(Warpbeam_INCLUDE_DIR "${Warpbeam_HOME}/include")
set(Warpbeam_LIBRARY "${Warpbeam_BUILD}/lib/libwarpbeam.so")

if(NOT TARGET Warpbeam::runtime)
  add_library(Warpbeam::runtime SHARED IMPORTED)
  set_target_properties(Warpbeam::runtime PROPERTIES
    IMPORTED_LOCATION "${Warpbeam_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Warpbeam_INCLUDE_DIR}")
endif()

# Adds to `objects` one object per CUDA source of the list; the rest of the list goes to `others`.
function(_warpbeam_compile target objects others)
  cmake_parse_arguments(PARSE_ARGV 3 arg "RDC" "" "ARCHITECTURES;OPTIONS")
  set(flags ${arg_OPTIONS})
  foreach(architecture IN LISTS arg_ARCHITECTURES)
    list(APPEND flags -gencode "arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  if(arg_RDC)
    list(APPEND flags -rdc=true)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(APPEND flags -g)
  elseif(CMAKE_BUILD_TYPE)
    list(APPEND flags -O3)
  endif()
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(standard "$<TARGET_PROPERTY:${target},CXX_STANDARD>")
  set(made)
  set(kept)
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    if(NOT source MATCHES "\\.cu$")
      list(APPEND kept "${source}")
      continue()
    endif()
    get_filename_component(path "${source}" ABSOLUTE)
    string(MAKE_C_IDENTIFIER "${source}" name)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.warpbeam/${name}.o")
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${target}.warpbeam")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${Warpbeam_COMPILER}" nvcc -c "${path}" -o "${object}" -MD -MF "${object}.d" -MT "${object}"
              -Xcompiler -fPIC ${flags}
              "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
              "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
              "$<$<BOOL:${standard}>:-std=c++${standard}>"
      DEPENDS "${path}" "${Warpbeam_COMPILER}"
      DEPFILE "${object}.d"
      COMMENT "Building CUDA object ${name}.o"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND made "${object}")
  endforeach()
  set(${objects} "${made}" PARENT_SCOPE)
  set(${others} "${kept}" PARENT_SCOPE)
endfunction()

# Relocatable device code is registered by an object that goes into whatever is linked last. `libraries` are targets of
# static libraries, whose members may be needed by device code alone.
function(_warpbeam_register target objects libraries)
  set(link "${CMAKE_CURRENT_BINARY_DIR}/${target}.warpbeam/registration.o")
  set(files)
  foreach(library IN LISTS libraries)
    list(APPEND files "$<TARGET_FILE:${library}>")
  endforeach()
  add_custom_command(
    OUTPUT "${link}"
    COMMAND "${Warpbeam_COMPILER}" nvcc -dlink ${objects} ${files} -o "${link}"
    DEPENDS ${objects} ${libraries}
    COMMENT "Linking device code of ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE "${link}")
  set_source_files_properties("${link}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
endfunction()

function(_warpbeam_finish target objects)
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# warpbeam_add_executable(name source... [RDC] [RDC_LIBRARIES target...] [ARCHITECTURES 70...] [OPTIONS option...])
function(warpbeam_add_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RDC" "" "RDC_LIBRARIES;ARCHITECTURES;OPTIONS")
  if(arg_RDC OR arg_RDC_LIBRARIES)
    set(rdc RDC)
  endif()
  _warpbeam_compile(${target} objects others ${arg_UNPARSED_ARGUMENTS} ${rdc}
                    ARCHITECTURES ${arg_ARCHITECTURES} OPTIONS ${arg_OPTIONS})
  add_executable(${target} ${others} ${objects})
  _warpbeam_finish(${target} "${objects}")
  target_link_libraries(${target} PRIVATE Warpbeam::runtime)
  if(rdc)
    target_link_libraries(${target} PRIVATE ${arg_RDC_LIBRARIES})
    _warpbeam_register(${target} "${objects}" "${arg_RDC_LIBRARIES}")
  endif()
endfunction()

# warpbeam_add_library(name STATIC|SHARED source... [RDC] [ARCHITECTURES 70...] [OPTIONS option...])
# A static library with RDC is named in RDC_LIBRARIES of the executable that uses it.
function(warpbeam_add_library target kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "RDC" "" "ARCHITECTURES;OPTIONS")
  if(arg_RDC)
    set(rdc RDC)
  endif()
  _warpbeam_compile(${target} objects others ${arg_UNPARSED_ARGUMENTS} ${rdc}
                    ARCHITECTURES ${arg_ARCHITECTURES} OPTIONS ${arg_OPTIONS})
  add_library(${target} ${kind} ${others} ${objects})
  _warpbeam_finish(${target} "${objects}")
  target_link_libraries(${target} PUBLIC Warpbeam::runtime)
  if(arg_RDC AND kind STREQUAL "SHARED")
    _warpbeam_register(${target} "${objects}" "")
  endif()
endfunction()

set(Warpbeam_FOUND TRUE)
