# The double of the driver itself. A test with it is only as reliable as the double.
if(TARGET fake_cuda AND SYCL_HAS_CUDA)
  sycl_test(unit_cuda_double SOURCES fake_cuda/memory.c fake_cuda/driver.c fake_cuda/graphs.c fake_cuda/green.c fake_cuda/instant.c fake_cuda/ptx.c fake_cuda/remote.c
    LIBS sycl_cuda_headers Threads::Threads ${CMAKE_DL_LIBS} m TIMEOUT 120 LABELS cuda)
  if(TARGET unit_cuda_double)
    target_include_directories(unit_cuda_double PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
    target_compile_definitions(unit_cuda_double PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE_DIR:fake_cuda>/libcuda.so.1")
    add_dependencies(unit_cuda_double fake_cuda)
  endif()
endif()
