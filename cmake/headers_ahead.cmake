# The headers of others that most sources include, compiled once for each target of many sources: reading them takes longer
# than all else in a usual source. (17 to 45 MB each, with clang's 115: not where sources are few.) Sources still include what they use; the
# preset `debug` builds without this.
set(wb_headers_ahead <algorithm> <array> <atomic> <bit> <cstring> <filesystem> <functional> <map> <memory> <mutex> <optional> <set>
                     <span> <string> <string_view> <unordered_map> <vector> <fmt/format.h>)
# And those of our own on which most sources of a target stand: reading what they include takes longer than all else there.
set(wb_own_headers_ahead_wb_vm src/vm/exec_lane.h)
set(wb_own_headers_ahead_wb_cuda src/cuda/edge.h src/cuda/capture.h)
set(wb_own_headers_ahead_wb_observe src/observe/check/block_watch.h)
set(wb_own_headers_ahead_warpbeam_jit src/jit/emitter.h)
set(wb_own_headers_ahead_test_jit tests/jit/both_engines.h)
# Of clang's and LLVM's, for its plugin.
set(wb_more_headers_ahead_warpbeam_lowering <clang/AST/ASTConsumer.h> <clang/AST/ASTContext.h> <clang/Frontend/CompilerInstance.h> <clang/Frontend/FrontendPluginRegistry.h>
                                            <llvm/Analysis/ValueTracking.h> <llvm/IR/InstIterator.h> <llvm/IR/IntrinsicInst.h> <llvm/IR/IRBuilder.h> <llvm/IR/Module.h>)

function(wb_compile_headers_ahead folder)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    wb_compile_headers_ahead(${below})
  endforeach()
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cc$")
    list(LENGTH sources count)
    if(count GREATER_EQUAL 11)
      target_precompile_headers(${target} PRIVATE ${wb_headers_ahead})
      foreach(header ${wb_more_headers_ahead_${target}})
        target_precompile_headers(${target} PRIVATE ${header})
      endforeach()
      foreach(header ${wb_own_headers_ahead_${target}})
        target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/${header})
      endforeach()
      if(target MATCHES "^test_")
        target_precompile_headers(${target} PRIVATE <gtest/gtest.h>)
      endif()
    endif()
  endforeach()
endfunction()
