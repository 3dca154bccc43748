# The example programs, with small sizes, on an engine inside the process. Each compares its results with the CPU's. With two devices, one
# kernel's results are moved to the other device for the next one.
if(TARGET sycl_programs AND NOT SYCLD_SANITIZE STREQUAL "thread" AND NOT SYCLD_SANITIZE STREQUAL "memory")
  set(run_programs $<TARGET_FILE:sycl_programs> --endpoint embedded: --size tiny --no-skip)
  add_test(NAME programs_opencl COMMAND ${run_programs})
  add_test(NAME programs_opencl_together COMMAND ${run_programs} --devices 2)
  foreach(name programs_opencl programs_opencl_together)
    sycl_test_properties(${name} 600 "client")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "SYCLD_BACKEND_OPTIONS=cuda:library=/nonexistent"
      "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/client-cache")
  endforeach()
  set_property(TEST programs_opencl_together APPEND PROPERTY ENVIRONMENT "POCL_DEVICES=pthread pthread")
  # programs_cuda runs the same code of this project; most of the time here is PoCL's compiler.
  set_property(TEST programs_opencl programs_opencl_together APPEND PROPERTY LABELS again)
  sycl_test_after(programs_opencl_together programs_opencl)
  sycl_test_without_optimiser(programs_opencl programs_opencl_together)
  # It takes a minute of one processor and is nearly the last test of the list.
  set_property(TEST programs_opencl PROPERTY COST 1500)
  if(TARGET fake_cuda AND SYCL_HAS_CUDA AND SYCLD_NVRTC)
    add_test(NAME programs_cuda COMMAND ${run_programs} --device gpu)
    add_test(NAME programs_cuda_together COMMAND ${run_programs} --device gpu --devices 2)
    foreach(name programs_cuda programs_cuda_together)
      sycl_test_properties(${name} 240 "client;cuda")
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "OCL_ICD_VENDORS=/nonexistent"
        "SYCLD_BACKEND_OPTIONS=cuda:library=$<TARGET_FILE:fake_cuda> cuda:nvrtc=${SYCLD_NVRTC}" "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/client-cache")
    endforeach()
    set_property(TEST programs_cuda_together APPEND PROPERTY ENVIRONMENT "FAKE_CUDA=devices 2")
    set_property(TEST programs_cuda_together APPEND PROPERTY LABELS again)
    sycl_test_after(programs_cuda_together programs_cuda)
  endif()
endif()
