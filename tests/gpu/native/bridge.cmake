# Native commands through a service, by a program with its own CUDA context; also with the double.
if(TARGET sycl_cuda_headers)
  sycl_test(gpu_bridge SOURCES native/bridge.c native/bridge_early.c native/bridge_ends.c native/bridge_graphs.c native/bridge_graphs_running.c native/bridge_nodes.c native/bridge_fixture.c native/fixture.c order/fixture.c
    ${CMAKE_CURRENT_SOURCE_DIR}/../bench/gpu/driver.c ${CMAKE_CURRENT_SOURCE_DIR}/../integration/processes/common.c
    LIBS syclclient sycl_cuda_headers sycl_test_support sycl_shared PkgConfig::jansson ${CMAKE_DL_LIBS} Threads::Threads TIMEOUT 300)
endif()
if(TARGET gpu_bridge)
  add_dependencies(gpu_bridge sycld sycl-engine syclctl)
  target_include_directories(gpu_bridge PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/../bench ${CMAKE_CURRENT_SOURCE_DIR}/../integration
    ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
  target_compile_definitions(gpu_bridge PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  sycl_test_needs_gpu(gpu_bridge)
  if(TARGET fake_cuda)
    set(double ${CMAKE_CURRENT_BINARY_DIR}/double)
    file(WRITE ${double}/fake_cuda.conf "devices 2\n")
    file(CREATE_LINK ${CMAKE_BINARY_DIR}/tests/fake_cuda/libcuda.so.1 ${double}/libcuda.so.1 SYMBOLIC)
    add_test(NAME gpu_bridge_double COMMAND gpu_bridge --jobs=2 --tap=${CMAKE_BINARY_DIR}/tests/gpu_bridge_double.tap)
    sycl_test_properties(gpu_bridge_double 300 "cuda;address")
    set_property(TEST gpu_bridge_double APPEND PROPERTY ENVIRONMENT "SYCLD_TEST_CUDA_LIBRARY=${double}/libcuda.so.1")
    set_property(TEST gpu_bridge_double PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
    add_dependencies(gpu_bridge fake_cuda)
  endif()
endif()
