# The pure parts of the CUDA backend's programs, compiled in.
if(TARGET sycl_cuda_headers)
  set(cuda_folder ${PROJECT_SOURCE_DIR}/daemon/backends/cuda)
  sycl_fuzz_target(cuda_program SOURCES cuda_program.c ${cuda_folder}/../binary_stream.c
    ${cuda_folder}/cuda_binary.c ${cuda_folder}/cuda_image.c
    ${cuda_folder}/cuda_options.c ${cuda_folder}/cuda_ptx.c ${cuda_folder}/cuda_ptx_complete.c
    ${cuda_folder}/cuda_symbol.c LIBS sycl_cuda_headers sycl_shared)
  foreach(name fuzz_cuda_program replay_cuda_program)
    if(TARGET ${name})
      target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/daemon/backends)
    endif()
  endforeach()
endif()
