# Memory of the CUDA backend, with the double of its driver, or with a real one if the double is not built.
if(SYCL_HAS_CUDA AND TARGET fake_cuda)
  sycl_test(conformance_cuda_memory
    SOURCES cuda/memory.c cuda/usm.c cuda/share.c cuda/peer.c cuda/memory_support.c
    LIBS ${conformance_libraries} sycl_cuda_headers TIMEOUT 300 LABELS cuda)
  if(TARGET conformance_cuda_memory)
    target_include_directories(conformance_cuda_memory PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
    target_compile_definitions(conformance_cuda_memory PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE_DIR:fake_cuda>/libcuda.so.1")
    add_dependencies(conformance_cuda_memory fake_cuda)
  endif()
  conformance_cuda_lazy(cuda_memory)
endif()
