# Order, through the public functions, on the double of NVIDIA's driver.
if(TARGET syclclient AND TARGET fake_cuda AND SYCL_HAS_CUDA)
  sycl_test(client_cuda_order SOURCES library/cuda_order.c LIBS syclclient ${CMAKE_DL_LIBS} TIMEOUT 300 LABELS cuda)
  if(TARGET client_cuda_order)
    add_dependencies(client_cuda_order syclengine sycl-engine fake_cuda)
    target_include_directories(client_cuda_order PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
    target_compile_definitions(client_cuda_order PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda>"
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endif()
