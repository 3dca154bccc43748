# Real processes: applications, sycld and its engines, ended in every way there is.
if(TARGET syclclient AND TARGET sycld AND TARGET sycl-engine AND TARGET syclctl AND TARGET sycl_test_support
   AND NOT SYCLD_SANITIZE STREQUAL "thread" AND NOT SYCLD_SANITIZE STREQUAL "memory")
  add_executable(worker worker.c worker_build.c worker_churn.c worker_cycles.c worker_mix.c worker_undrained.c worker_wait.c)
  target_link_libraries(worker PRIVATE sycl_flags syclclient sycl_shared sycl_proto)
  set_target_properties(worker PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

  foreach(part sharing client_death engine_death service_death builds)
    set(name processes_${part})
    sycl_test(${name} SOURCES ${name}.c processes_common.c LIBS sycl_test_support sycl_shared PkgConfig::jansson
      TIMEOUT 300)
    if(TARGET ${name})
      add_dependencies(${name} worker sycld sycl-engine syclctl)
    endif()
  endforeach()
endif()
