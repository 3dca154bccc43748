# A build with both backends, or with one: its registry, and the header that names them. A build
# with neither is refused.
set(registry ${PROJECT_SOURCE_DIR}/daemon/backends/registry.c)
set(registry_include ${PROJECT_SOURCE_DIR}/daemon/backends ${PROJECT_SOURCE_DIR}/daemon/backends/prelude)

function(backends_built_test name opencl cuda)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${name})
  sycl_backends_header(${made} ${opencl} ${cuda})
  # Definitions that the build sets for a source do not apply here, because they belong to another
  # folder.
  sycl_test(${name} SOURCES backends/built.c ${registry} LIBS sycl_shared)
  if(TARGET ${name})
    target_include_directories(${name} BEFORE PRIVATE ${made} ${PROJECT_SOURCE_DIR}/include ${registry_include})
    target_compile_definitions(${name} PRIVATE $<$<BOOL:${opencl}>:SYCL_HAS_OPENCL=1> $<$<BOOL:${cuda}>:SYCL_HAS_CUDA=1>)
  endif()
endfunction()

if(COMMAND sycl_backends_header)
  backends_built_test(unit_backends_both ON ON)
  backends_built_test(unit_backends_opencl ON OFF)
  backends_built_test(unit_backends_cuda OFF ON)
endif()
add_test(NAME unit_backends_none_is_refused COMMAND ${CMAKE_C_COMPILER} -fsyntax-only -I${PROJECT_SOURCE_DIR}/daemon/backends
  -I${PROJECT_SOURCE_DIR}/daemon/backends/prelude -I${PROJECT_SOURCE_DIR}/shared ${registry})
sycl_test_properties(unit_backends_none_is_refused 30 "")
set_tests_properties(unit_backends_none_is_refused PROPERTIES PASS_REGULAR_EXPRESSION "a build needs at least one backend")

sycl_test(unit_backends_environment SOURCES backends/environment.c ${PROJECT_SOURCE_DIR}/daemon/backends/vendor_environment.c
  LIBS sycl_shared Threads::Threads)
if(TARGET unit_backends_environment)
  target_include_directories(unit_backends_environment PRIVATE ${PROJECT_SOURCE_DIR}/daemon/backends)
endif()

# NVML by a double: no GPU is needed.
add_library(fake_nvml MODULE ${PROJECT_SOURCE_DIR}/tests/support/fake_nvml/fake_nvml.c)
target_link_libraries(fake_nvml PRIVATE sycl_flags)
set_target_properties(fake_nvml PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
sycl_test(unit_backends_sensors SOURCES backends/sensors.c ${PROJECT_SOURCE_DIR}/daemon/backends/nvml.c
  ${PROJECT_SOURCE_DIR}/daemon/backends/nvml_gpm.c
  LIBS sycl_shared ${CMAKE_DL_LIBS})
if(TARGET unit_backends_sensors)
  target_include_directories(unit_backends_sensors PRIVATE ${PROJECT_SOURCE_DIR}/daemon/backends)
  target_compile_definitions(unit_backends_sensors PRIVATE FAKE_NVML="$<TARGET_FILE:fake_nvml>")
  add_dependencies(unit_backends_sensors fake_nvml)
endif()

# Portable sources as text.
set(portable_folder ${PROJECT_SOURCE_DIR}/daemon/backends)
sycl_test(unit_backends_portable SOURCES backends/portable.c backends/portable_dimensions.c ${portable_folder}/portable_tokens.c ${portable_folder}/portable_check.c
  ${portable_folder}/portable_check_fault.c ${portable_folder}/portable_order.c ${portable_folder}/portable_words.c
  ${portable_folder}/portable_dimensions.c)
if(TARGET unit_backends_portable)
  target_include_directories(unit_backends_portable PRIVATE ${portable_folder} ${PROJECT_SOURCE_DIR}/shared)
endif()
sycl_test(unit_backends_portable_races SOURCES backends/portable_races.c)
if(TARGET unit_backends_portable_races)
  target_include_directories(unit_backends_portable_races PRIVATE ${portable_folder} ${PROJECT_SOURCE_DIR}/shared)
endif()
