# Prints which memory could be shared USM of clients. It is no test, so run.sh does not run it: build/tests/usm_probe [MIB]
if(TARGET sycl_cuda_headers)
  add_executable(usm_probe platforms/usm_probe.c platforms/usm_probe_faults.c)
  target_include_directories(usm_probe PRIVATE ${PROJECT_SOURCE_DIR}/shared)
  target_link_libraries(usm_probe PRIVATE sycl_flags sycl_cuda_headers ${CMAKE_DL_LIBS})
  set_target_properties(usm_probe PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
