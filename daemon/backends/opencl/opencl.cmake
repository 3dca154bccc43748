# The vendor's headers give types only; the library is opened at run time. Included by the backends' CMakeLists.txt.
set(prelude_folder ${CMAKE_CURRENT_SOURCE_DIR}/prelude)
set(prelude_source ${CMAKE_CURRENT_BINARY_DIR}/portable_opencl.c)
add_custom_command(OUTPUT ${prelude_source}
  COMMAND ${CMAKE_COMMAND} -DINPUT=${prelude_folder}/portable_opencl.cl -DOUTPUT=${prelude_source}
          -DNAME=portable_prelude_opencl -P ${prelude_folder}/embed.cmake
  DEPENDS ${prelude_folder}/portable_opencl.cl ${prelude_folder}/embed.cmake VERBATIM)
target_sources(sycl_backends PRIVATE ${prelude_source})
target_include_directories(sycl_backends PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/opencl ${prelude_folder})
target_include_directories(sycl_backends SYSTEM PRIVATE ${OPENCL_INCLUDE})
