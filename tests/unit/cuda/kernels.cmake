# Parts of the CUDA backend's kernels that need no driver: PTX, symbols, grids, arguments, options,
# the container.
if(TARGET sycl_cuda_headers)
  set(cuda_folder ${PROJECT_SOURCE_DIR}/daemon/backends/cuda)
  sycl_test(unit_cuda_kernels SOURCES
    cuda/kernels_arguments.c
    cuda/kernels_binary.c
    cuda/kernels_geometry.c
    cuda/kernels_images.c
    cuda/kernels_options.c
    cuda/kernels_ptx.c
    cuda/kernels_symbol.c
    ${cuda_folder}/program/arguments.c
    ${cuda_folder}/program/binary.c
    ${cuda_folder}/../binary_stream.c
    ${cuda_folder}/driver/fault.c
    ${cuda_folder}/program/geometry.c
    ${cuda_folder}/program/cubin.c
    ${cuda_folder}/memory/sampler.c
    ${cuda_folder}/program/image_arguments.c
    ${cuda_folder}/driver/options.c
    ${cuda_folder}/program/ptx.c
    ${cuda_folder}/program/ptx_complete.c
    ${cuda_folder}/program/ptx_wait.c
    ${cuda_folder}/program/symbol.c
    ${cuda_folder}/program/symbol_type.c
    LIBS sycl_cuda_headers sycl_shared Threads::Threads)
  if(TARGET unit_cuda_kernels)
    target_include_directories(unit_cuda_kernels PRIVATE ${PROJECT_SOURCE_DIR}/daemon/backends)
  endif()
endif()
# Texts of LLVM's language, without any program of LLVM's.
if(TARGET sycl_cuda_headers)
  sycl_test(unit_cuda_translate SOURCES cuda/translate.c
    LIBS sycl_backends sycl_cuda_headers sycl_shared Threads::Threads ${CMAKE_DL_LIBS} m)
endif()
