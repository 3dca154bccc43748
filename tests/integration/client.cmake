# The library against an engine on a thread of the test (fake backend), and against the embedded engine (PoCL).
if(TARGET syclclient AND TARGET sycl_engine_core)
  add_library(client_service STATIC client_service.c)
  target_include_directories(client_service PUBLIC ${CMAKE_CURRENT_LIST_DIR})
  target_link_libraries(client_service PRIVATE sycl_flags PUBLIC syclclient sycl_engine_core)
  sycl_test(client_basic SOURCES client_basic.c client_buffers.c client_errors_late.c client_facts.c
    client_groups.c client_lost.c client_programs.c client_share.c
    LIBS client_service TIMEOUT 300)
  sycl_test(client_embedded SOURCES client_embedded.c LIBS syclclient TIMEOUT 300)
  if(TARGET client_embedded)
    add_dependencies(client_embedded syclengine sycl-engine)
    target_compile_definitions(client_embedded PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endif()
# What a client learns of CUDA devices, on the double of the driver.
if(TARGET syclclient AND TARGET fake_cuda AND SYCL_HAS_CUDA)
  sycl_test(client_cuda_kernels SOURCES client_cuda_kernels.c LIBS syclclient TIMEOUT 300)
  if(TARGET client_cuda_kernels)
    add_dependencies(client_cuda_kernels syclengine sycl-engine fake_cuda)
    target_compile_definitions(client_cuda_kernels PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda>"
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
    if(SYCLD_NVRTC)
      target_compile_definitions(client_cuda_kernels PRIVATE NVRTC_LIBRARY="${SYCLD_NVRTC}")
    endif()
  endif()
  sycl_test(client_cuda SOURCES client_cuda.c client_cuda_lost.c LIBS syclclient TIMEOUT 120)
  if(TARGET client_cuda)
    add_dependencies(client_cuda syclengine sycl-engine fake_cuda)
    target_include_directories(client_cuda PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
    target_compile_definitions(client_cuda PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda>"
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endif()
