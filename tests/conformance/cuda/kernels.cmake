# Kernels of the CUDA backend: native ones and their launches; with NVRTC also those that it compiles, and the portable form.
if(SYCL_HAS_CUDA AND TARGET fake_cuda)
  set(cuda_kernels_common cuda/double.c cuda/kernels_run.c targets/cuda.c targets/cuda_options.c ${fixture})
  sycl_test(conformance_cuda_kernels SOURCES cuda/overlap.c cuda/early.c cuda/l2.c cuda/kernels_native.c cuda/kernels_programs.c cuda/kernels_residency.c
    common/graphs_support.c ${cuda_kernels_common} LIBS ${conformance_libraries} sycl_cuda_headers TIMEOUT 300 LABELS cuda)
  conformance_cuda_uses_double(conformance_cuda_kernels)
  conformance_cuda_connections(conformance_cuda_kernels 16) # kernels that wait for each other
  conformance_cuda_lazy(cuda_kernels)
  if(SYCLD_NVRTC)
    sycl_test(conformance_cuda_compiled SOURCES cuda/kernels_checked.c cuda/kernels_compiled.c cuda/kernels_portable.c
      ${conformance_portable} ${cuda_kernels_common} LIBS ${conformance_libraries} TIMEOUT 600 LABELS cuda compiler)
    conformance_cuda_uses_double(conformance_cuda_compiled)
    conformance_cuda_connections(conformance_cuda_compiled 8)
  endif()
endif()
# OpenCL C and SPIR-V, translated by clang and llvm-spirv. Without these the tests are skipped.
if(SYCL_HAS_CUDA AND TARGET fake_cuda)
  sycl_test(conformance_cuda_opencl SOURCES cuda/opencl.c cuda/opencl_support.c ${cuda_kernels_common}
    LIBS ${conformance_libraries} sycl_cuda_headers TIMEOUT 600 LABELS cuda compiler)
  conformance_cuda_uses_double(conformance_cuda_opencl)
  conformance_cuda_connections(conformance_cuda_opencl 8)
endif()
# What tests/judges/translate.sh runs.
if(SYCL_HAS_CUDA)
  add_executable(cuda_translate cuda/translate_tool.c)
  target_link_libraries(cuda_translate PRIVATE sycl_flags ${conformance_libraries} sycl_cuda_headers)
  set_target_properties(cuda_translate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()
