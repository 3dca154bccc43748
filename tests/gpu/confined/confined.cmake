# The service with the restrictions of its unit, where no systemd runs: on a machine with a GPU, and everywhere with PoCL or the double of
# the driver. run.sh runs confined.sh with the programs of the stage.
add_executable(confined confined/confined.c confined/process.c confined/mounts.c confined/filter.c)
target_link_libraries(confined PRIVATE sycl_flags)
add_executable(fill_device confined/fill_device.c)
target_link_libraries(fill_device PRIVATE sycl_flags syclclient)
set_target_properties(confined fill_device PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME gpu_confined
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/confined.sh ${CMAKE_BINARY_DIR} ${CMAKE_BINARY_DIR}/systemd/sycld.service)
sycl_test_properties(gpu_confined 300 "")
set_property(TEST gpu_confined APPEND PROPERTY ENVIRONMENT SYCLD_TEST_FILL_SECONDS=2)
set_tests_properties(gpu_confined PROPERTIES SKIP_RETURN_CODE 77)
find_program(SYSTEMD_ANALYZE systemd-analyze)
if(SYSTEMD_ANALYZE)
  set_tests_properties(gpu_confined PROPERTIES FAIL_REGULAR_EXPRESSION "(absent|refused) +SystemCallFilter")
endif()
# A new setting of the unit must be known here: otherwise nobody sees that it was not tried.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/confined/unit "[Service]\nUMask=0077\nProtectSurprise=yes\n")
add_test(NAME gpu_confined_knows_each_setting
  COMMAND confined --unit ${CMAKE_CURRENT_BINARY_DIR}/confined/unit --run /nonexistent --cache /nonexistent /bin/true)
sycl_test_properties(gpu_confined_knows_each_setting 60 "")
set_tests_properties(gpu_confined_knows_each_setting PROPERTIES PASS_REGULAR_EXPRESSION "unknown setting ProtectSurprise")
