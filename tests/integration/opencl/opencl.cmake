# The OpenCL driver, through OpenCL's own loader, and a service on PoCL.
if(TARGET syclcl AND TARGET sycld AND TARGET sycl-engine AND TARGET syclctl AND TARGET sycl_test_support
   AND NOT SYCLD_SANITIZE STREQUAL "thread" AND NOT SYCLD_SANITIZE STREQUAL "memory")
  find_library(OPENCL_LOADER OpenCL)
  if(OPENCL_LOADER)
    sycl_test(opencl_driver SOURCES opencl/driver.c opencl/objects.c opencl/commands.c opencl/images.c opencl/queries.c opencl/programs.c opencl/svm.c opencl/usm.c opencl/command_buffers.c opencl/maps.c opencl/language.c
      LIBS sycl_test_support sycl_shared PkgConfig::jansson ${OPENCL_LOADER} ${CMAKE_DL_LIBS} m TIMEOUT 600 LABELS plain address)
    if(TARGET opencl_driver)
      target_compile_definitions(opencl_driver PRIVATE SYCLCL_LIBRARY="$<TARGET_FILE:syclcl>")
      add_dependencies(opencl_driver syclcl sycld sycl-engine syclctl)
    endif()
    # Once more with the double of NVIDIA's driver, for which the service translates the programs.
    if(TARGET opencl_driver AND TARGET fake_cuda AND SYCL_HAS_CUDA)
      add_test(NAME opencl_driver_cuda COMMAND opencl_driver --jobs=2 --filter "!(images)/*"
        --tap=${CMAKE_BINARY_DIR}/tests/opencl_driver_cuda.tap)
      sycl_test_properties(opencl_driver_cuda 600 cuda)
      set_property(TEST opencl_driver_cuda APPEND PROPERTY ENVIRONMENT "SYCLD_TEST_OPENCL=$<TARGET_FILE:fake_cuda>")
      set_property(TEST opencl_driver_cuda PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
      add_dependencies(opencl_driver fake_cuda)
    endif()
  endif()
endif()
