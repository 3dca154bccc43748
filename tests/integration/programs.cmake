# The example programs, small, on an engine inside the process: each compares its results with the CPU's.
if(TARGET sycl_programs AND NOT SYCLD_SANITIZE STREQUAL "thread" AND NOT SYCLD_SANITIZE STREQUAL "memory")
  set(run_programs $<TARGET_FILE:sycl_programs> --endpoint embedded: --size tiny)
  add_test(NAME programs_opencl COMMAND ${run_programs})
  sycl_test_properties(programs_opencl 600 "client")
  set_property(TEST programs_opencl APPEND PROPERTY ENVIRONMENT "SYCLD_BACKEND_OPTIONS=cuda:library=/nonexistent"
    "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/client-cache")
  if(TARGET fake_cuda AND SYCL_HAS_CUDA AND SYCLD_NVRTC)
    add_test(NAME programs_cuda COMMAND ${run_programs} --device gpu)
    sycl_test_properties(programs_cuda 240 "client;cuda")
    set_property(TEST programs_cuda APPEND PROPERTY ENVIRONMENT "OCL_ICD_VENDORS=/nonexistent"
      "SYCLD_BACKEND_OPTIONS=cuda:library=$<TARGET_FILE:fake_cuda> cuda:nvrtc=${SYCLD_NVRTC}" "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endif()
