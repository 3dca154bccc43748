# The configuration file's sections on backends, devices and shares.
sycl_test(unit_configuration SOURCES supervisor/configuration.c supervisor/configuration_cuda.c supervisor/configuration_people.c
  ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/configuration.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/configuration_cuda.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/configuration_shares.c
  ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/configuration_files.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/configuration_people.c
  LIBS sycl_shared PkgConfig::inih)
if(TARGET unit_configuration)
  target_include_directories(unit_configuration PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor
    ${PROJECT_SOURCE_DIR}/daemon/engine)
  target_compile_definitions(unit_configuration PRIVATE SYCLD_SYSCONFDIR="/etc")
endif()
