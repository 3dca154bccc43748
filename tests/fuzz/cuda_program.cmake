# The parts of the CUDA backend's programs without side effects, compiled in.
if(TARGET sycl_cuda_headers)
  set(cuda_folder ${PROJECT_SOURCE_DIR}/daemon/backends/cuda)
  sycl_fuzz_target(cuda_program SOURCES cuda_program.c ${cuda_folder}/../binary_stream.c
    ${cuda_folder}/program/binary.c ${cuda_folder}/program/cubin.c
    ${cuda_folder}/driver/options.c ${cuda_folder}/program/ptx.c ${cuda_folder}/program/ptx_complete.c
    ${cuda_folder}/program/symbol.c ${cuda_folder}/program/symbol_type.c LIBS sycl_cuda_headers sycl_shared)
  foreach(name fuzz_cuda_program replay_cuda_program)
    if(TARGET ${name})
      target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/daemon/backends)
    endif()
  endforeach()
endif()
