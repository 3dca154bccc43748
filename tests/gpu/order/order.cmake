# Order, streams, contexts, errors and launches of the CUDA backend, through the client.
# tests/integration/library/cuda*.c test them by the records of the driver's double, these by
# results of kernels, on a GPU.
sycl_test(gpu_order SOURCES order/order.c order/devices.c order/early.c order/errors.c order/fixture.c order/launches.c
  ${CMAKE_CURRENT_SOURCE_DIR}/../bench/gpu/driver.c LIBS syclclient ${CMAKE_DL_LIBS} Threads::Threads TIMEOUT 300)
if(TARGET gpu_order)
  add_dependencies(gpu_order syclengine sycl-engine)
  target_include_directories(gpu_order PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/../bench)
  target_compile_definitions(gpu_order PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/client-cache)
  sycl_test_needs_gpu(gpu_order)
  # Kernels in a fatbin: code for two kinds of GPUs and PTX for others. Its bytes become part of the program.
  find_program(SYCLD_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(SYCLD_NVCC AND TARGET sycl_cuda_headers)
    set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/order.fatbin)
    add_custom_command(OUTPUT ${fatbin}
      COMMAND ${SYCLD_NVCC} -fatbin -gencode=arch=compute_80,code=[sm_80,compute_80] -gencode=arch=compute_90,code=sm_90
        -o ${fatbin} ${CMAKE_CURRENT_SOURCE_DIR}/order/fatbin.cu
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/order/fatbin.cu VERBATIM)
    set_source_files_properties(order/launches.c PROPERTIES OBJECT_DEPENDS ${fatbin}
      COMPILE_DEFINITIONS ORDER_FATBIN="${fatbin}")
  endif()
endif()
