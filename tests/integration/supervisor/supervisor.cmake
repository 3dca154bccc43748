# The supervisor and syclctl, with a stand-in engine that can misbehave, and with the real one if it matters.
if(NOT SYCLD_SANITIZE STREQUAL "memory")
  add_executable(supervisor_engine_double supervisor/engine_double.c supervisor/engine_double_memory.c
    supervisor/engine_double_report.c supervisor/engine_double_standby.c)
  target_link_libraries(supervisor_engine_double PRIVATE sycl_flags sycl_shared sycl_proto)
  set_target_properties(supervisor_engine_double PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

  add_library(supervisor_harness STATIC supervisor/harness.c)
  target_include_directories(supervisor_harness PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(supervisor_harness PUBLIC SYCLD_PROGRAM="$<TARGET_FILE:sycld>"
    SYCLCTL_PROGRAM="$<TARGET_FILE:syclctl>" ENGINE_DOUBLE="$<TARGET_FILE:supervisor_engine_double>")
  target_link_libraries(supervisor_harness PRIVATE sycl_flags PUBLIC sycl_shared sycl_proto PkgConfig::jansson Threads::Threads)
  add_dependencies(supervisor_harness sycld syclctl supervisor_engine_double)

  sycl_test(supervisor_service SOURCES supervisor/service.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_engines SOURCES supervisor/engines.c supervisor/engines_lost.c supervisor/engines_standby.c
    supervisor/engines_claims.c supervisor/engines_memory.c supervisor/engines_fixture.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_groups SOURCES supervisor/groups.c supervisor/control_group.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_succession SOURCES supervisor/succession.c supervisor/succession_files.c
    supervisor/succession_fixture.c LIBS supervisor_harness TIMEOUT 300 LABELS integration)
  sycl_test(supervisor_retired SOURCES supervisor/retired.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_orders SOURCES supervisor/orders.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_jobs SOURCES supervisor/jobs.c supervisor/control_group.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_settings SOURCES supervisor/settings.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_events SOURCES supervisor/events.c LIBS supervisor_harness TIMEOUT 120 LABELS integration)
  sycl_test(supervisor_journal SOURCES supervisor/journal.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/journal.c
    LIBS sycl_shared TIMEOUT 30)
  if(TARGET supervisor_journal)
    target_include_directories(supervisor_journal PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
    target_compile_definitions(supervisor_journal PRIVATE CATALOG="${PROJECT_SOURCE_DIR}/systemd/sycld.catalog")
  endif()
  sycl_test(supervisor_unsettled SOURCES supervisor/unsettled.c LIBS supervisor_harness TIMEOUT 240
    LABELS integration)
  sycl_test(supervisor_accounts SOURCES supervisor/accounts.c LIBS supervisor_harness TIMEOUT 240
    LABELS integration)
  sycl_test(supervisor_present SOURCES supervisor/present.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  sycl_test(supervisor_top SOURCES supervisor/top.c LIBS supervisor_harness TIMEOUT 300 LABELS integration)
  sycl_test(supervisor_cli SOURCES supervisor/cli.c LIBS supervisor_harness nng::nng TIMEOUT 240
    LABELS integration)
  sycl_test(supervisor_cli_words SOURCES supervisor/cli_words.c LIBS supervisor_harness TIMEOUT 60 LABELS integration)

  if(TARGET sycld-exporter)
    sycl_test(supervisor_exporter SOURCES supervisor/exporter.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
    if(TARGET supervisor_exporter)
      target_compile_definitions(supervisor_exporter PRIVATE EXPORTER_PROGRAM="$<TARGET_FILE:sycld-exporter>")
      add_dependencies(supervisor_exporter sycld-exporter)
    endif()
  endif()

  # A user database that waits, in the service's process. It cannot be used with sanitizers, which must be loaded first.
  add_library(slow_user_database MODULE ${PROJECT_SOURCE_DIR}/tests/support/slow_user_database.c)
  target_compile_definitions(slow_user_database PRIVATE _GNU_SOURCE)
  set_target_properties(slow_user_database PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  sycl_test(supervisor_slow_users SOURCES supervisor/slow_users.c LIBS supervisor_harness TIMEOUT 240 LABELS integration)
  if(TARGET supervisor_slow_users)
    target_compile_definitions(supervisor_slow_users PRIVATE SLOW_USER_DATABASE="$<TARGET_FILE:slow_user_database>")
    add_dependencies(supervisor_slow_users slow_user_database)
  endif()

  sycl_test(supervisor_user_database SOURCES supervisor/user_database.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/user_database.c TIMEOUT 30)
  if(TARGET supervisor_user_database)
    target_include_directories(supervisor_user_database PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
  endif()
  sycl_test(supervisor_user_namespace SOURCES supervisor/user_namespace.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/user_namespace.c TIMEOUT 30)
  if(TARGET supervisor_user_namespace)
    target_include_directories(supervisor_user_namespace PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
  endif()
  sycl_test(supervisor_log SOURCES supervisor/log.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/log.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/log_queue.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/journal.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/text.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/user_names.c LIBS sycl_shared PkgConfig::uv TIMEOUT 60)
  if(TARGET supervisor_log)
    target_include_directories(supervisor_log PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
  endif()
  sycl_test(supervisor_engine_log SOURCES supervisor/engine_log.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/engine/log.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/foreign_socket.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/log.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/log_queue.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/journal.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/text.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/user_names.c LIBS sycl_shared PkgConfig::uv TIMEOUT 60)
  if(TARGET supervisor_engine_log)
    target_include_directories(supervisor_engine_log PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
  endif()
  sycl_test(supervisor_text SOURCES supervisor/text.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/text.c TIMEOUT 30)
  if(TARGET supervisor_text)
    target_include_directories(supervisor_text PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
  endif()

  set(supervisor_folder ${PROJECT_SOURCE_DIR}/daemon/supervisor)
  sycl_test(supervisor_peer SOURCES supervisor/peer.c ${supervisor_folder}/base/peer.c ${supervisor_folder}/base/cgroup.c
    ${supervisor_folder}/base/text.c LIBS sycl_shared TIMEOUT 30)
  if(TARGET supervisor_peer)
    target_include_directories(supervisor_peer PRIVATE ${supervisor_folder})
  endif()

  sycl_test(supervisor_foreign_socket SOURCES supervisor/foreign_socket.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/foreign_socket.c
    ${PROJECT_SOURCE_DIR}/daemon/supervisor/base/refusal.c LIBS sycl_shared sycl_proto TIMEOUT 60)
  if(TARGET supervisor_foreign_socket)
    target_include_directories(supervisor_foreign_socket PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
  endif()

  # A plain program, so that its exit status 77 shows ctest that it was skipped. It is skipped
  # unless root runs it.
  add_executable(supervisor_uids supervisor/uids.c)
  target_link_libraries(supervisor_uids PRIVATE sycl_flags supervisor_harness)
  set_target_properties(supervisor_uids PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME supervisor_uids COMMAND supervisor_uids)
  sycl_test_properties(supervisor_uids 120 "")
  set_tests_properties(supervisor_uids PROPERTIES SKIP_RETURN_CODE 77)
  # The same for operators.
  add_executable(supervisor_uids_operators supervisor/uids_operators.c)
  target_link_libraries(supervisor_uids_operators PRIVATE sycl_flags supervisor_harness)
  target_compile_definitions(supervisor_uids_operators PRIVATE SLOW_USER_DATABASE="$<TARGET_FILE:slow_user_database>")
  add_dependencies(supervisor_uids_operators slow_user_database)
  set_target_properties(supervisor_uids_operators PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME supervisor_uids_operators COMMAND supervisor_uids_operators)
  sycl_test_properties(supervisor_uids_operators 120 "")
  set_tests_properties(supervisor_uids_operators PROPERTIES SKIP_RETURN_CODE 77)
  # The same with many users.
  add_executable(supervisor_uids_many supervisor/uids_many.c)
  target_link_libraries(supervisor_uids_many PRIVATE sycl_flags supervisor_harness)
  target_compile_definitions(supervisor_uids_many PRIVATE SLOW_USER_DATABASE="$<TARGET_FILE:slow_user_database>")
  add_dependencies(supervisor_uids_many slow_user_database)
  set_target_properties(supervisor_uids_many PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME supervisor_uids_many COMMAND supervisor_uids_many)
  # It starts hundreds of engines.
  sycl_test_properties(supervisor_uids_many 240 "")
  set_tests_properties(supervisor_uids_many PROPERTIES SKIP_RETURN_CODE 77)
  if(TARGET saxpy AND TARGET syclctl AND TARGET sycl-engine)
    add_test(NAME supervisor_taken COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/supervisor/taken.sh ${CMAKE_BINARY_DIR}/bin)
    sycl_test_properties(supervisor_taken 240 "")
    set_tests_properties(supervisor_taken PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  add_test(NAME supervisor_units COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/supervisor/units.sh ${CMAKE_BINARY_DIR}/systemd
    ${PROJECT_SOURCE_DIR}/systemd $<TARGET_FILE:sycld>)
  sycl_test_properties(supervisor_units 60 "")
  set_tests_properties(supervisor_units PROPERTIES SKIP_RETURN_CODE 77)

  if(TARGET sycl-engine)
    add_test(NAME supervisor_uids_real_engine COMMAND supervisor_uids $<TARGET_FILE:sycl-engine>)
    sycl_test_properties(supervisor_uids_real_engine 120 "")
    set_tests_properties(supervisor_uids_real_engine PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()
