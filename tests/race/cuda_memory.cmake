# Memory of the CUDA backend with the double of its driver. These threads run at once: the device's, the loader's, the copy thread, the
# reaper and the driver's own thread.
if(SYCL_HAS_CUDA AND TARGET fake_cuda)
  sycl_race_test(race_cuda_memory SOURCES ${CMAKE_CURRENT_LIST_DIR}/cuda_memory.c
    LIBS sycl_backends sycl_shared TIMEOUT 120 LABELS cuda)
  target_compile_definitions(race_cuda_memory PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE_DIR:fake_cuda>/libcuda.so.1")
  add_dependencies(race_cuda_memory fake_cuda)
endif()
