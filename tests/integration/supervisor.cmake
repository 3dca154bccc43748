# The supervisor and syclctl, with a stand-in engine that can misbehave on demand, and with the real one where it counts.
set(here ${CMAKE_CURRENT_LIST_DIR})
if(NOT SYCLD_SANITIZE STREQUAL "memory")
  add_executable(supervisor_engine_double ${here}/supervisor_engine_double.c)
  target_link_libraries(supervisor_engine_double PRIVATE sycl_flags sycl_shared sycl_proto)
  set_target_properties(supervisor_engine_double PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

  add_library(supervisor_harness STATIC ${here}/supervisor_harness.c)
  target_include_directories(supervisor_harness PUBLIC ${here})
  target_compile_definitions(supervisor_harness PUBLIC SYCLD_PROGRAM="$<TARGET_FILE:sycld>"
    SYCLCTL_PROGRAM="$<TARGET_FILE:syclctl>" ENGINE_DOUBLE="$<TARGET_FILE:supervisor_engine_double>")
  target_link_libraries(supervisor_harness PRIVATE sycl_flags PUBLIC sycl_shared sycl_proto PkgConfig::jansson Threads::Threads)
  add_dependencies(supervisor_harness sycld syclctl supervisor_engine_double)

  sycl_test(supervisor_service SOURCES ${here}/supervisor_service.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_engines SOURCES ${here}/supervisor_engines.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_groups SOURCES ${here}/supervisor_groups.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_succession SOURCES ${here}/supervisor_succession.c LIBS supervisor_harness TIMEOUT 300
    LABELS integration)
  sycl_test(supervisor_orders SOURCES ${here}/supervisor_orders.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_unsettled SOURCES ${here}/supervisor_unsettled.c LIBS supervisor_harness TIMEOUT 240
    LABELS integration)
  sycl_test(supervisor_accounts SOURCES ${here}/supervisor_accounts.c LIBS supervisor_harness TIMEOUT 240
    LABELS integration)
  sycl_test(supervisor_cli SOURCES ${here}/supervisor_cli.c LIBS supervisor_harness nng::nng TIMEOUT 240
    LABELS integration)

  # A user database that waits, in the service's process. Without sanitizers, which want to be loaded first.
  add_library(slow_user_database MODULE ${here}/../support/slow_user_database.c)
  target_compile_definitions(slow_user_database PRIVATE _GNU_SOURCE)
  set_target_properties(slow_user_database PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  sycl_test(supervisor_slow_users SOURCES ${here}/supervisor_slow_users.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  if(TARGET supervisor_slow_users)
    target_compile_definitions(supervisor_slow_users PRIVATE SLOW_USER_DATABASE="$<TARGET_FILE:slow_user_database>")
    add_dependencies(supervisor_slow_users slow_user_database)
  endif()

  sycl_test(supervisor_user_database SOURCES ${here}/supervisor_user_database.c
    ${here}/../../daemon/supervisor/base/user_database.c TIMEOUT 30)
  if(TARGET supervisor_user_database)
    target_include_directories(supervisor_user_database PRIVATE ${here}/../../daemon/supervisor)
  endif()
  sycl_test(supervisor_user_namespace SOURCES ${here}/supervisor_user_namespace.c
    ${here}/../../daemon/supervisor/base/user_namespace.c TIMEOUT 30)
  if(TARGET supervisor_user_namespace)
    target_include_directories(supervisor_user_namespace PRIVATE ${here}/../../daemon/supervisor)
  endif()
  sycl_test(supervisor_log SOURCES ${here}/supervisor_log.c ${here}/../../daemon/supervisor/base/log.c
    ${here}/../../daemon/supervisor/base/log_queue.c LIBS sycl_shared PkgConfig::uv TIMEOUT 60)
  if(TARGET supervisor_log)
    target_include_directories(supervisor_log PRIVATE ${here}/../../daemon/supervisor)
  endif()
  sycl_test(supervisor_engine_log SOURCES ${here}/supervisor_engine_log.c ${here}/../../daemon/supervisor/engine/log.c
    ${here}/../../daemon/supervisor/base/foreign_socket.c ${here}/../../daemon/supervisor/base/log.c
    ${here}/../../daemon/supervisor/base/log_queue.c ${here}/../../daemon/supervisor/base/text.c LIBS sycl_shared PkgConfig::uv TIMEOUT 60)
  if(TARGET supervisor_engine_log)
    target_include_directories(supervisor_engine_log PRIVATE ${here}/../../daemon/supervisor)
  endif()
  sycl_test(supervisor_text SOURCES ${here}/supervisor_text.c ${here}/../../daemon/supervisor/base/text.c TIMEOUT 30)
  if(TARGET supervisor_text)
    target_include_directories(supervisor_text PRIVATE ${here}/../../daemon/supervisor)
  endif()

  set(supervisor_folder ${here}/../../daemon/supervisor)
  sycl_test(supervisor_peer SOURCES ${here}/supervisor_peer.c ${supervisor_folder}/base/peer.c ${supervisor_folder}/base/cgroup.c
    ${supervisor_folder}/base/text.c LIBS sycl_shared TIMEOUT 30)
  if(TARGET supervisor_peer)
    target_include_directories(supervisor_peer PRIVATE ${supervisor_folder})
  endif()

  sycl_test(supervisor_foreign_socket SOURCES ${here}/supervisor_foreign_socket.c
    ${here}/../../daemon/supervisor/base/foreign_socket.c LIBS sycl_shared TIMEOUT 60)
  if(TARGET supervisor_foreign_socket)
    target_include_directories(supervisor_foreign_socket PRIVATE ${here}/../../daemon/supervisor)
  endif()

  # A plain program: only the exit status 77 tells ctest that it was skipped, which it is unless root runs it.
  add_executable(supervisor_uids ${here}/supervisor_uids.c)
  target_link_libraries(supervisor_uids PRIVATE sycl_flags supervisor_harness)
  set_target_properties(supervisor_uids PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME supervisor_uids COMMAND supervisor_uids)
  set_tests_properties(supervisor_uids PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77 LABELS integration
    ENVIRONMENT "${test_environment}")
  # The same of operators.
  add_executable(supervisor_uids_operators ${here}/supervisor_uids_operators.c)
  target_link_libraries(supervisor_uids_operators PRIVATE sycl_flags supervisor_harness)
  set_target_properties(supervisor_uids_operators PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME supervisor_uids_operators COMMAND supervisor_uids_operators)
  set_tests_properties(supervisor_uids_operators PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77 LABELS integration
    ENVIRONMENT "${test_environment}")
  # The same of users who are many.
  add_executable(supervisor_uids_many ${here}/supervisor_uids_many.c)
  target_link_libraries(supervisor_uids_many PRIVATE sycl_flags supervisor_harness)
  target_compile_definitions(supervisor_uids_many PRIVATE SLOW_USER_DATABASE="$<TARGET_FILE:slow_user_database>")
  add_dependencies(supervisor_uids_many slow_user_database)
  set_target_properties(supervisor_uids_many PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME supervisor_uids_many COMMAND supervisor_uids_many)
  set_tests_properties(supervisor_uids_many PROPERTIES TIMEOUT 240 SKIP_RETURN_CODE 77 LABELS integration
    ENVIRONMENT "${test_environment}")
  if(TARGET saxpy AND TARGET syclctl AND TARGET sycl-engine)
    add_test(NAME supervisor_taken COMMAND ${here}/supervisor_taken.sh ${CMAKE_BINARY_DIR}/bin)
    set_tests_properties(supervisor_taken PROPERTIES TIMEOUT 240 SKIP_RETURN_CODE 77 LABELS integration)
  endif()
  add_test(NAME supervisor_units COMMAND ${here}/supervisor_units.sh ${CMAKE_BINARY_DIR}/systemd
    ${CMAKE_CURRENT_LIST_DIR}/../../systemd $<TARGET_FILE:sycld>)
  set_tests_properties(supervisor_units PROPERTIES TIMEOUT 60 SKIP_RETURN_CODE 77 LABELS integration)

  if(TARGET sycl-engine)
    add_test(NAME supervisor_uids_real_engine COMMAND supervisor_uids $<TARGET_FILE:sycl-engine>)
    set_tests_properties(supervisor_uids_real_engine PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77 LABELS integration
      ENVIRONMENT "${test_environment}")
  endif()
endif()
