# The CUDA backend's clock compared with the driver's own times. It needs a machine with a GPU, so it is no test of ctest.
if(SYCL_HAS_CUDA AND CRITERION_LIBRARY)
  add_executable(gpu_clock platforms/clock.c)
  target_include_directories(gpu_clock SYSTEM PRIVATE ${CRITERION_INCLUDE})
  target_link_libraries(gpu_clock PRIVATE sycl_flags criterion_flags sycl_backends sycl_cuda_headers sycl_shared
    Threads::Threads m ${CRITERION_LIBRARY})
  set_target_properties(gpu_clock PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
