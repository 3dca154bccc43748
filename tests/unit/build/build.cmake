# The build service: cache, helper, limits. It uses the fake backend, whose builds do what a test's
# source orders. conformance/ uses the real compilers.
sycl_test(unit_build SOURCES build/support.c build/service.c build/limits.c build/cache.c build/folder.c build/link.c build/linker.c build/name.c build/warm.c
  LIBS sycl_fake_offered sycl_engine_core sycl_shared sycl_proto PkgConfig::uv TIMEOUT 120)
if(TARGET unit_build)
  # As a driver compiles: no sanitizer, and code for a shared library.
  add_library(link_object OBJECT build/link_object.c)
  set_target_properties(link_object PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(link_object PRIVATE -fno-sanitize=all -fno-profile-arcs -fno-test-coverage -fvisibility=default)
  target_compile_definitions(unit_build PRIVATE LINK_OBJECT="$<TARGET_OBJECTS:link_object>")
  add_dependencies(unit_build link_object)
  add_executable(build_helper_program build/helper_program.c)
  target_link_libraries(build_helper_program PRIVATE sycl_flags sycl_fake_offered sycl_engine_core)
  set_target_properties(build_helper_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(unit_build PRIVATE BUILD_HELPER_PROGRAM="$<TARGET_FILE:build_helper_program>")
  add_dependencies(unit_build build_helper_program)
  # On a machine with one processor a compiler that hangs does not delay the next one.
  add_test(NAME unit_build_one_processor COMMAND unit_build --filter folder/* --tap=${CMAKE_BINARY_DIR}/tests/unit_build_one_processor.tap)
  sycl_test_properties(unit_build_one_processor 120 "")
  set_property(TEST unit_build_one_processor APPEND PROPERTY ENVIRONMENT "SYCLD_PROCESSORS=1")
  set_property(TEST unit_build_one_processor PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
endif()
