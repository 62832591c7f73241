# `cmake --install`: the build directory's own look, a CUDA toolkit's, under a prefix that can be moved. The build remembers its libraries by
# their full names, so that programs of any linker start from it; what is installed has plain names and finds its own by where it lies.
set(wb_tree ${CMAKE_BINARY_DIR})
install(PROGRAMS ${wb_tree}/bin/warpbeam ${wb_tree}/bin/nvidia-smi ${wb_tree}/bin/bench_interpreter DESTINATION bin)
foreach(tool nvcc ptxas cuobjdump fatbinary nvlink ncu nvprof nsys compute-sanitizer cuda-memcheck)  # src/compiler/tool_commands.cc
  install(PROGRAMS ${wb_tree}/bin/${tool} DESTINATION bin)
endforeach()
install(PROGRAMS package/host_linker DESTINATION lib/warpbeam/bin RENAME clang++)
install(DIRECTORY include/ DESTINATION include)
install(DIRECTORY ${wb_tree}/lib/ DESTINATION lib FILES_MATCHING PATTERN "lib*.so*" PATTERN "lib*_static*.a" PATTERN libcudadevrt.a PATTERN libculibos.a
        PATTERN stubs EXCLUDE PATTERN pkgconfig EXCLUDE)
install(FILES ${wb_tree}/nvvm/libdevice/libdevice.10.bc DESTINATION nvvm/libdevice)
install(FILES include/nvvm.h DESTINATION nvvm/include)
install(FILES cmake/fetch_cccl.py DESTINATION lib/warpbeam)
install(DIRECTORY src/clients/ DESTINATION lib/warpbeam/clients FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${wb_tree}/lib/pkgconfig/ DESTINATION lib/pkgconfig)
install(FILES ${wb_tree}/version.txt ${wb_tree}/version.json DESTINATION .)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/warpbeam)
install(FILES cmake/WarpbeamConfig.cmake DESTINATION lib/cmake/Warpbeam)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/WarpbeamConfigVersion.cmake VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/WarpbeamConfigVersion.cmake DESTINATION lib/cmake/Warpbeam)

set(wb_here_lib ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
install(CODE "set(built \"${wb_here_lib}\")\ninclude(\"${CMAKE_CURRENT_LIST_DIR}/make_relocatable.cmake\")\n")
