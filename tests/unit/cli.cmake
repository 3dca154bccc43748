# Parts of syclctl that need no service.
sycl_test(unit_cli SOURCES cli_table.c ${PROJECT_SOURCE_DIR}/client/cli/table.c LIBS sycl_flags)
if(TARGET unit_cli)
  target_include_directories(unit_cli PRIVATE ${PROJECT_SOURCE_DIR}/client/cli)
endif()
