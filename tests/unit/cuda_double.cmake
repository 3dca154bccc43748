# The double of the driver itself: tests on it are only worth what it is.
if(TARGET fake_cuda AND SYCL_HAS_CUDA)
  sycl_test(unit_cuda_double SOURCES cuda_double.c cuda_double_driver.c cuda_double_graphs.c cuda_double_green.c cuda_double_ptx.c cuda_double_remote.c
    LIBS sycl_cuda_headers Threads::Threads ${CMAKE_DL_LIBS} m TIMEOUT 120 LABELS cuda)
  if(TARGET unit_cuda_double)
    target_include_directories(unit_cuda_double PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
    target_compile_definitions(unit_cuda_double PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE_DIR:fake_cuda>/libcuda.so.1")
    add_dependencies(unit_cuda_double fake_cuda)
  endif()
endif()
