# The OpenCL driver, through OpenCL's own loader, and a service on PoCL.
if(TARGET syclcl AND TARGET sycld AND TARGET sycl-engine AND TARGET syclctl AND TARGET sycl_test_support
   AND NOT SYCLD_SANITIZE STREQUAL "thread" AND NOT SYCLD_SANITIZE STREQUAL "memory")
  find_library(OPENCL_LOADER OpenCL)
  if(OPENCL_LOADER)
    sycl_test(opencl_driver SOURCES opencl/driver.c opencl/objects.c opencl/commands.c opencl/images.c opencl/queries.c opencl/programs.c opencl/svm.c opencl/usm.c opencl/command_buffers.c opencl/maps.c
      LIBS sycl_test_support sycl_shared PkgConfig::jansson ${OPENCL_LOADER} ${CMAKE_DL_LIBS} TIMEOUT 600 LABELS plain address)
    if(TARGET opencl_driver)
      target_compile_definitions(opencl_driver PRIVATE SYCLCL_LIBRARY="$<TARGET_FILE:syclcl>")
      add_dependencies(opencl_driver syclcl sycld sycl-engine syclctl)
    endif()
  endif()
endif()
