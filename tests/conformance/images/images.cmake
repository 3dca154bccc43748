# Images: memory on every backend, kernels and samplers on those that compile the portable form.
set(images_kernels images/kernels.c images/sample.c images/layers_kernels.c)
set(images_common images/memory.c images/parts.c images/layers.c images/support.c ${fixture})
sycl_test(conformance_images_fake SOURCES targets/fake_images.c images/fake.c ${images_common} LIBS ${conformance_libraries} TIMEOUT 120 LABELS fake)
sycl_test(conformance_images_opencl SOURCES targets/opencl.c images/opencl.c images/opencl_list.c ${images_kernels} ${images_common}
  LIBS ${conformance_libraries} TIMEOUT 600 LABELS opencl compiler)
# The same without the parts that PoCL compiles slowly, for the sanitizers.
if(TARGET conformance_images_opencl)
  add_test(NAME conformance_images_opencl_memory COMMAND conformance_images_opencl --jobs=2
    "--filter=@(image_memory|image_layers|image_opencl)/*" --tap=${CMAKE_BINARY_DIR}/tests/conformance_images_opencl_memory.tap)
  sycl_test_properties(conformance_images_opencl_memory 300 opencl)
  set_property(TEST conformance_images_opencl_memory PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
endif()
if(SYCL_HAS_CUDA AND TARGET fake_cuda AND SYCLD_NVRTC)
  sycl_test(conformance_images_cuda SOURCES targets/cuda_portable.c targets/cuda_options.c images/cuda.c cuda/double.c
    ${images_kernels} ${images_common} LIBS ${conformance_libraries} sycl_cuda_headers TIMEOUT 600 LABELS cuda)
  conformance_cuda_uses_double(conformance_images_cuda)
  conformance_cuda_connections(conformance_images_cuda 8)
endif()
