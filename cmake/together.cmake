# A first build compiles the sources of a target some at a time, as one: what they include is read once, and what several would compile is compiled once. Each is
# compiled by itself where a compiler cache is, which wants it so, for looking into (debug, sanitizers), and with the environment's WARPBEAM_TOGETHER=OFF.
# together.txt in the build's folder has what is compiled with what, from the first configuration on. What is not in it is compiled by itself: new sources, and those that
# `./warpbeam` has seen edited and taken out, so that an edit costs that source and no more.
if(DEFINED ENV{WARPBEAM_TOGETHER})
  set(wb_few $ENV{WARPBEAM_TOGETHER})
elseif(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache" OR CMAKE_BUILD_TYPE STREQUAL "Debug" OR WARPBEAM_SANITIZE OR WARPBEAM_FUZZ)
  set(wb_few OFF)
else()
  set(wb_few ON)
endif()
option(WARPBEAM_TOGETHER "Compile sources together, which makes a first build quicker" ${wb_few})

# How many at a time: some seconds' worth, so that sixteen cores have work.
set(wb_together wb_fatbin=4 wb_ptx=6 wb_model=5 wb_assembly=7 wb_timing=5 wb_vm=10 warpbeam_jit=10 wb_observe=8 wb_cuda=10 wb_report=8 wb_compiler=10 warpbeam_lowering=9
                cublas=3 cusparse=3 cusolver=2 curand=3 cufft=4 nvJitLink=4 nvrtc=4)
# By themselves: those by which kernels are as fast as they are, as what a compiler inlines depends on what else it sees, …
set(wb_apart vm/exec_approx vm/exec_atomic vm/exec_compare vm/exec_convert vm/exec_dot vm/exec_float vm/exec_half vm/exec_integer vm/exec_logic vm/exec_memory vm/exec_mma
             vm/exec_select vm/exec_video vm/exec_wgmma vm/matrix_lanes vm/warp
             # … those that take long, …
             isa/row jit/approx jit/codegen lowering/language/walk
             # … and those with names in them that others have, too.
             vm/exec_mbarrier vm/grid vm/texture_lanes ptx/expressions timing/multiprocessor fatbin/linked jit/emit_spread jit/shapes jit/spreads jit/stretches compiler/prelude_cache compiler/report_command compiler/timeline_command observe/profiler/predicted_values observe/profiler/tracer
             cuda/driver/entry cuda/memory/wide_copy
             cuda/stubs report/timeline_use lowering/optimiser/array_unrolling lowering/optimiser/index_loads libraries/cusparse/blocks libraries/cusparse/chosen
             lowering/language/deduction_guides lowering/language/device_templates lowering/language/missing_functions lowering/language/nvcc_errors)
# Such names are in these, too, but not in two of them: they are a group of their own in each target.
set(wb_beside jit/emit_sloped jit/emit_special jit/emit_straight jit/leaving observe/clock/far_memory observe/clock/timeline
              cuda/exit_report cuda/graphs/graph_nodes cuda/memory/ipc report/schema report/timeline_nvprof report/timeline_page report/timeline_sqlite
              compiler/run_command compiler/source_scan lowering/checker/type_gaps)

# Adds to the list `out` a line for each source of the target that is compiled with others: the group's name, a blank, the file.
function(wb_group target size out)
  set(found)
  set(group 0)
  set(count 0)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source ${sources})
    get_filename_component(file "${source}" ABSOLUTE BASE_DIR ${folder})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src "${file}")
    get_source_file_property(own "${file}" TARGET_DIRECTORY ${target} SKIP_PRECOMPILE_HEADERS)
    if(own OR NOT name MATCHES "^([^.].*)\\.cc$" OR CMAKE_MATCH_1 IN_LIST wb_apart)
      continue()
    endif()
    if(CMAKE_MATCH_1 IN_LIST wb_beside)
      list(APPEND found "${target}_beside ${file}")
      continue()
    endif()
    list(APPEND found "${target}_${group} ${file}")
    math(EXPR count "${count} + 1")
    if(count EQUAL size)
      set(count 0)
      math(EXPR group "${group} + 1")
    endif()
  endforeach()
  set(${out} ${${out}} ${found} PARENT_SCOPE)
endfunction()

function(wb_compile_together)
  if(NOT WARPBEAM_TOGETHER)
    return()
  endif()
  set(lines)
  foreach(pair ${wb_together})
    string(REGEX MATCH "^(.*)=(.*)$" _ ${pair})
    if(TARGET ${CMAKE_MATCH_1})
      set_target_properties(${CMAKE_MATCH_1} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
      wb_group(${CMAKE_MATCH_1} ${CMAKE_MATCH_2} lines)
    endif()
  endforeach()
  set(list ${CMAKE_BINARY_DIR}/together.txt)
  if(EXISTS ${list})
    file(STRINGS ${list} kept)
  else()
    set(kept ${lines})
    list(JOIN lines "\n" text)
    file(WRITE ${list} "${text}\n")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  foreach(line ${kept})
    if(line MATCHES " ${PROJECT_SOURCE_DIR}/src/(.*)\\.cc$" AND CMAKE_MATCH_1 IN_LIST wb_apart)
      continue()
    endif()
    string(REGEX MATCH "^((.*)_([0-9]+|beside)) (.*)$" _ "${line}")
    set_source_files_properties("${CMAKE_MATCH_4}" TARGET_DIRECTORY ${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
  endforeach()
endfunction()
