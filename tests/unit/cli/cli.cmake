# Parts of syclctl that need no service.
sycl_test(unit_cli SOURCES cli/table.c LIBS syclctl_table sycl_ask_json)
sycl_test(unit_cli_trace SOURCES cli/trace.c LIBS syclctl_trace sycl_ask_json sycl_bench_sim sycl_shared)
sycl_test(unit_cli_timeline SOURCES cli/timeline.c LIBS syclctl_trace sycl_ask_json sycl_test_support sycl_shared)
sycl_test(unit_cli_filter SOURCES cli/filter.c ${PROJECT_SOURCE_DIR}/client/cli/words/filter.c
  ${PROJECT_SOURCE_DIR}/client/cli/words/operand.c ${PROJECT_SOURCE_DIR}/client/cli/words/wrong_word.c LIBS sycl_ask_json sycl_shared)
if(TARGET unit_cli_filter)
  target_include_directories(unit_cli_filter PRIVATE ${PROJECT_SOURCE_DIR}/client/cli)
endif()
sycl_test(unit_cli_reasons SOURCES cli/reasons.c ${PROJECT_SOURCE_DIR}/client/cli/show/reasons.c LIBS sycl_ask_json)
if(TARGET unit_cli_reasons)
  target_include_directories(unit_cli_reasons PRIVATE ${PROJECT_SOURCE_DIR}/client/cli)
endif()
sycl_test(unit_cli_json SOURCES cli/json.c LIBS syclctl_json sycl_ask_json)
if(TARGET unit_cli_json)
  target_compile_definitions(unit_cli_json PRIVATE JSON_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/cli/json")
endif()
# This program has its own service_request.
sycl_test(unit_cli_events SOURCES ${CMAKE_CURRENT_LIST_DIR}/events.c ${PROJECT_SOURCE_DIR}/client/cli/events/events.c
  ${PROJECT_SOURCE_DIR}/client/cli/words/operand.c ${PROJECT_SOURCE_DIR}/client/cli/words/since.c
  ${PROJECT_SOURCE_DIR}/client/cli/words/wrong_word.c LIBS sycl_ask_json sycl_shared)
if(TARGET unit_cli_events)
  target_compile_definitions(unit_cli_events PRIVATE CATALOG="${PROJECT_SOURCE_DIR}/systemd/sycld.catalog")
  target_include_directories(unit_cli_events PRIVATE ${PROJECT_SOURCE_DIR}/client/cli)
endif()
# The completion files, tested by their shells.
if(TARGET syclctl)
  add_test(NAME unit_cli_completion COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/completion.sh $<TARGET_FILE:syclctl> ${CMAKE_BINARY_DIR}/client/cli)
  sycl_test_properties(unit_cli_completion 120 "")
endif()
