# The CUDA backend's threads, with the double of its driver.
if(SYCL_HAS_CUDA AND TARGET fake_cuda)
  sycl_race_test(race_cuda SOURCES cuda.c ${PROJECT_SOURCE_DIR}/tests/conformance/cuda/workers.c
    LIBS sycl_backends sycl_shared ${CMAKE_DL_LIBS} m LABELS cuda)
  target_include_directories(race_cuda PRIVATE ${PROJECT_SOURCE_DIR}/tests/conformance
    ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
  target_compile_definitions(race_cuda PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE_DIR:fake_cuda>/libcuda.so.1")
  add_dependencies(race_cuda fake_cuda)
endif()
