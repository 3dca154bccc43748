# Multiprocessors of the latency class: where kernels run, on a GPU, and everywhere with the double of its driver.
sycl_test(gpu_partition SOURCES order/partition.c LIBS syclclient sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 300)
if(TARGET gpu_partition)
  add_dependencies(gpu_partition sycld sycl-engine syclctl)
  sycl_test_needs_gpu(gpu_partition)
endif()
if(TARGET gpu_partition AND TARGET fake_cuda AND SYCL_HAS_CUDA)
  add_test(NAME gpu_partition_double
    COMMAND gpu_partition --jobs=2 --tap=${CMAKE_BINARY_DIR}/tests/gpu_partition_double.tap)
  sycl_test_properties(gpu_partition_double 300 "")
  set_property(TEST gpu_partition_double APPEND PROPERTY ENVIRONMENT
    "SYCLD_TEST_CUDA_LIBRARY=${CMAKE_BINARY_DIR}/tests/fake_cuda/libcuda.so.1")
  set_property(TEST gpu_partition_double PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
  add_dependencies(gpu_partition fake_cuda)
endif()
