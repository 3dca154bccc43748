# The PTX that NVRTC makes of the portable prelude: no driver, and no GPU.
if(SYCL_HAS_CUDA AND SYCLD_NVRTC)
  sycl_test(unit_cuda_memory_model SOURCES cuda/memory_model.c LIBS sycl_backends sycl_cuda_headers sycl_shared Threads::Threads
    LABELS compiler) # NVRTC compiles for a minute
  if(TARGET unit_cuda_memory_model)
    target_compile_definitions(unit_cuda_memory_model PRIVATE SYCLD_NVRTC_LIBRARY="${SYCLD_NVRTC}")
  endif()
endif()

# The checks of the checking mode in CUDA C++: compiled, not run.
if(SYCL_HAS_CUDA AND SYCLD_NVRTC)
  sycl_test(unit_cuda_portable_checks SOURCES cuda/portable_checks.c LIBS sycl_backends sycl_cuda_headers sycl_shared Threads::Threads
    LABELS compiler)
  if(TARGET unit_cuda_portable_checks)
    target_compile_definitions(unit_cuda_portable_checks PRIVATE SYCLD_NVRTC_LIBRARY="${SYCLD_NVRTC}")
  endif()
endif()
