# The PTX that NVRTC makes of the portable prelude: no driver, and no GPU.
if(SYCL_HAS_CUDA AND SYCLD_NVRTC)
  sycl_test(unit_cuda_memory_model SOURCES cuda/memory_model.c LIBS sycl_backends sycl_cuda_headers sycl_shared Threads::Threads
    LABELS compiler) # NVRTC compiles for a minute
  if(TARGET unit_cuda_memory_model)
    target_compile_definitions(unit_cuda_memory_model PRIVATE SYCLD_NVRTC_LIBRARY="${SYCLD_NVRTC}")
  endif()
endif()
