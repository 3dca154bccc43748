# Native interop and native commands, by a program that links the library and calls the driver itself; also with the double.
if(TARGET sycl_cuda_headers)
  sycl_test(gpu_native SOURCES native/commands.c native/events.c native/fixture.c native/graphs.c native/interop.c native/libraries.c native/ownership.c
    order/fixture.c
    ${CMAKE_CURRENT_SOURCE_DIR}/../bench/gpu/driver.c
    LIBS syclclient sycl_cuda_headers m ${CMAKE_DL_LIBS} Threads::Threads TIMEOUT 300)
endif()
if(TARGET gpu_native)
  # It is in front of the driver and counts the objects that are made and destroyed.
  add_library(cuda_counter SHARED ${CMAKE_CURRENT_SOURCE_DIR}/../support/cuda_counter/cuda_counter.c)
  target_link_libraries(cuda_counter PRIVATE sycl_flags sycl_cuda_headers ${CMAKE_DL_LIBS} Threads::Threads)
  target_include_directories(cuda_counter INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/../support/cuda_counter)
  set_target_properties(cuda_counter PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(gpu_native syclengine sycl-engine cuda_counter)
  target_include_directories(gpu_native PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/../bench ${CMAKE_CURRENT_SOURCE_DIR}/../support/cuda_counter)
  target_compile_definitions(gpu_native PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache"
    COUNTER_LIBRARY="$<TARGET_FILE:cuda_counter>")
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/client-cache)
  sycl_test_needs_gpu(gpu_native)
  if(TARGET fake_cuda)
    set(double ${CMAKE_CURRENT_BINARY_DIR}/double)
    file(WRITE ${double}/fake_cuda.conf "devices 2\n")
    file(CREATE_LINK ${CMAKE_BINARY_DIR}/tests/fake_cuda/libcuda.so.1 ${double}/libcuda.so.1 SYMBOLIC)
    add_test(NAME gpu_native_double COMMAND gpu_native --jobs=2 --tap=${CMAKE_BINARY_DIR}/tests/gpu_native_double.tap)
    sycl_test_properties(gpu_native_double 300 "cuda;address")
    set_property(TEST gpu_native_double APPEND PROPERTY ENVIRONMENT "SYCLD_TEST_CUDA_LIBRARY=${double}/libcuda.so.1")
    set_property(TEST gpu_native_double PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
    add_dependencies(gpu_native fake_cuda)
  endif()
endif()
