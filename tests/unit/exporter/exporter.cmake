# Parts of sycld-exporter that need no service and no socket.
if(TARGET exporter_parts)
  sycl_test(unit_exporter SOURCES exporter/answers.c exporter/faults.c exporter/history.c exporter/metrics.c exporter/options.c exporter/peers.c exporter/view.c
    LIBS exporter_parts sycl_ask sycl_ask_json nng::nng)
  if(TARGET unit_exporter)
    target_compile_definitions(unit_exporter PRIVATE MONITORING_FOLDER="${PROJECT_SOURCE_DIR}/docs/monitoring")
  endif()
endif()
# The page's script, if there is a program to run it.
find_program(NODE_PROGRAM node)
if(TARGET exporter_parts AND NODE_PROGRAM)
  add_test(NAME unit_exporter_page COMMAND ${NODE_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/exporter/page.js ${PROJECT_SOURCE_DIR}/client/exporter/page/page.js)
  sycl_test_properties(unit_exporter_page 60 "")
endif()
