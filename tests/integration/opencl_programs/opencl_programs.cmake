# OpenCL programs that come to a service by the driver for OpenCL's loader.
if(TARGET syclcl AND TARGET sycld AND TARGET sycl-engine AND TARGET syclctl AND TARGET syclengine AND TARGET processes_objects
   AND NOT SYCLD_SANITIZE)
  find_library(OPENCL_LOADER OpenCL)
  if(OPENCL_LOADER)
    add_executable(opencl_program opencl_programs/program.c)
    target_link_libraries(opencl_program PRIVATE sycl_flags syclclient ${OPENCL_LOADER} Threads::Threads)
    set_target_properties(opencl_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    foreach(part found tenants)
      set(name opencl_${part})
      sycl_test(${name} SOURCES opencl_programs/${part}.c opencl_programs/common.c $<TARGET_OBJECTS:processes_objects>
        LIBS sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 300 LABELS plain)
      if(TARGET ${name})
        target_compile_definitions(${name} PRIVATE SYCLCL_LIBRARY="$<TARGET_FILE:syclcl>")
        add_dependencies(${name} opencl_program syclcl sycld sycl-engine syclengine syclctl)
      endif()
    endforeach()
    # Engines of other users find no driver in a folder that only its owner may enter.
    sycl_test_with_whole_pocl(opencl_tenants)
  endif()
endif()
