# Parts of sycld-exporter that need no service and no socket.
if(TARGET exporter_parts)
  sycl_test(unit_exporter SOURCES exporter/answers.c exporter/history.c exporter/metrics.c exporter/options.c exporter/peers.c exporter/view.c
    LIBS exporter_parts sycl_ask sycl_ask_json nng::nng)
  if(TARGET unit_exporter)
    target_compile_definitions(unit_exporter PRIVATE MONITORING_FOLDER="${PROJECT_SOURCE_DIR}/docs/monitoring")
  endif()
endif()
