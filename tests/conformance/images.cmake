# Images: memory on every backend, kernels and samplers where the portable form is compiled.
set(images_kernels images_kernels.c images_sample.c images_layers_kernels.c)
set(images_common images_memory.c images_layers.c images_support.c ${fixture})
sycl_test(conformance_images_fake SOURCES target_fake_images.c images_fake.c ${images_common} LIBS ${conformance_libraries} TIMEOUT 120 LABELS fake)
sycl_test(conformance_images_opencl SOURCES target_opencl.c images_opencl.c ${images_kernels} ${images_common}
  LIBS ${conformance_libraries} TIMEOUT 600 LABELS opencl)
if(SYCL_HAS_CUDA AND TARGET fake_cuda AND SYCLD_NVRTC)
  sycl_test(conformance_images_cuda SOURCES target_cuda_portable.c target_cuda_options.c images_cuda.c cuda_double.c
    ${images_kernels} ${images_common} LIBS ${conformance_libraries} sycl_cuda_headers TIMEOUT 600 LABELS cuda)
  conformance_cuda_uses_double(conformance_images_cuda)
  conformance_cuda_connections(conformance_images_cuda 8)
endif()
