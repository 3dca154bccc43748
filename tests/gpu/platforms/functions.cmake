# As platforms/clock.cmake: only for a machine with a GPU.
if(SYCL_HAS_CUDA AND CRITERION_LIBRARY)
  add_executable(gpu_functions platforms/functions.c)
  target_include_directories(gpu_functions SYSTEM PRIVATE ${CRITERION_INCLUDE})
  target_link_libraries(gpu_functions PRIVATE sycl_flags criterion_flags sycl_backends sycl_cuda_headers sycl_shared
    Threads::Threads ${CRITERION_LIBRARY})
  set_target_properties(gpu_functions PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
