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
      # And without clang, with what was kept, as on a machine with a GPU that has no compiler.
      add_test(NAME opencl_driver_cuda_kept COMMAND opencl_driver --jobs=2 --verbose=1 --filter "@(language|commands|svm)/*"
        --tap=${CMAKE_BINARY_DIR}/tests/opencl_driver_cuda_kept.tap)
      sycl_test_properties(opencl_driver_cuda_kept 600 cuda)
      set_property(TEST opencl_driver_cuda_kept APPEND PROPERTY ENVIRONMENT "SYCLD_TEST_OPENCL_KEPT=1")
      sycl_test_after(opencl_driver_cuda_kept opencl_driver_cuda)
      set_property(TEST opencl_driver_cuda_kept PROPERTY SKIP_REGULAR_EXPRESSION "libclc, .* is not installed")
      foreach(test opencl_driver_cuda opencl_driver_cuda_kept)
        set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "SYCLD_TEST_OPENCL=$<TARGET_FILE:fake_cuda>"
          "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/opencl-cache")
        set_property(TEST ${test} PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
      endforeach()
      file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/opencl-cache)
      add_dependencies(opencl_driver fake_cuda)
    endif()
  endif()
endif()
