# The list with the CUDA backend and the double of its driver: always with PTX, and in the portable form if NVRTC is installed.
if(NOT SYCL_HAS_CUDA OR NOT TARGET fake_cuda)
  return()
endif()
function(conformance_cuda_uses_double name)
  if(TARGET ${name})
    target_compile_definitions(${name} PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE_DIR:fake_cuda>/libcuda.so.1")
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
    add_dependencies(${name} fake_cuda)
    if(SYCLD_NVRTC)
      target_compile_definitions(${name} PRIVATE SYCLD_NVRTC_LIBRARY="${SYCLD_NVRTC}")
    endif()
  endif()
endfunction()

# On a GPU every test makes a context, and the driver makes those of all processes one after the
# other. With 32 queues to the device, the backend's default, one takes half a second, with 16 a
# quarter. So programs have as many as their lanes and the backend's own streams need.
# conformance_cuda_chains and the programs with a service have 32.
function(conformance_cuda_connections name count)
  if(TARGET ${name})
    target_compile_definitions(${name} PRIVATE CONFORMANCE_CONNECTIONS="${count}")
  endif()
endfunction()

sycl_test(conformance_cuda SOURCES targets/cuda.c targets/cuda_options.c ${conformance_list}
  LIBS ${conformance_libraries} TIMEOUT 300 LABELS cuda)
conformance_cuda_uses_double(conformance_cuda)
conformance_cuda_connections(conformance_cuda 8)

sycl_test(conformance_cuda_chains SOURCES cuda/chains.c cuda/copies.c cuda/copies_order.c cuda/copies_support.c cuda/room.c cuda/profile.c cuda/signals.c cuda/kernels_run.c cuda/double.c targets/cuda.c targets/cuda_options.c ${fixture}
  LIBS ${conformance_libraries} sycl_cuda_headers TIMEOUT 120 LABELS cuda)
conformance_cuda_uses_double(conformance_cuda_chains)
if(TARGET conformance_cuda_chains)
  target_include_directories(conformance_cuda_chains PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cupti)
  target_compile_definitions(conformance_cuda_chains PRIVATE FAKE_CUPTI_LIBRARY="$<TARGET_FILE:fake_cupti>")
  add_dependencies(conformance_cuda_chains fake_cupti)
endif()

# Tests of calls to the driver: streams, contexts, waits, faults.
sycl_test(conformance_cuda_rules SOURCES cuda/rules.c cuda/setup.c cuda/threads.c cuda/workers.c cuda/faults.c cuda/versions.c cuda/double.c
  cuda/bursts.c cuda/graphs.c cuda/graphs_memory.c cuda/graphs_series.c cuda/graphs_stage.c cuda/partition.c common/graphs_support.c
  targets/cuda.c targets/cuda_options.c ${fixture}
  LIBS ${conformance_libraries} sycl_cuda_headers TIMEOUT 300 LABELS cuda)
conformance_cuda_uses_double(conformance_cuda_rules)

# Native handles and native commands, with an application that calls the driver itself.
sycl_test(conformance_cuda_native SOURCES cuda/native.c cuda/native_commands.c cuda/native_app.c cuda/double.c
  targets/cuda.c targets/cuda_options.c ${fixture}
  LIBS ${conformance_libraries} sycl_cuda_headers TIMEOUT 300 LABELS cuda)
conformance_cuda_uses_double(conformance_cuda_native)

# Once more, with streams that are as slow as the driver's rules allow: an operation for which nothing waits comes too late.
function(conformance_cuda_lazy name)
  conformance_once_more(${name} lazy 300 cuda "FAKE_CUDA=set lazy 5")
endfunction()
foreach(name cuda cuda_chains cuda_rules cuda_native)
  conformance_cuda_lazy(${name})
endforeach()

if(SYCLD_NVRTC)
  sycl_test(conformance_cuda_portable SOURCES targets/cuda_portable.c targets/cuda_options.c ${conformance_list}
    LIBS ${conformance_libraries} TIMEOUT 300 LABELS cuda compiler)
  conformance_cuda_uses_double(conformance_cuda_portable)
  conformance_cuda_connections(conformance_cuda_portable 8)
else()
  message(STATUS "Left out: tests of portable kernels on CUDA (no NVRTC: give -DSYCLD_NVRTC=FILE)")
endif()
