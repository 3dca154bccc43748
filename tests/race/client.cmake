# The library under many threads, clean under ThreadSanitizer.
if(TARGET syclclient_objects)
  sycl_race_test(race_client_handles SOURCES client_handles.c LIBS syclclient_objects)
endif()
if(TARGET sycl_engine_core AND TARGET syclclient)
  set(integration ${PROJECT_SOURCE_DIR}/tests/integration)
  sycl_race_test(race_client_threads SOURCES client_threads.c ${integration}/client_service.c
    LIBS syclclient sycl_engine_core TIMEOUT 300)
  target_include_directories(race_client_threads PRIVATE ${integration})
  sycl_race_test(race_client_tasks SOURCES client_tasks.c ${integration}/client_service.c
    LIBS syclclient sycl_engine_core TIMEOUT 300)
  target_include_directories(race_client_tasks PRIVATE ${integration})
  sycl_race_test(race_client_graphs SOURCES client_graphs.c ${integration}/client_service.c
    LIBS syclclient sycl_engine_core TIMEOUT 300)
  target_include_directories(race_client_graphs PRIVATE ${integration})
  sycl_race_test(race_client_parts SOURCES client_parts.c ${integration}/client_service.c
    LIBS syclclient sycl_engine_core TIMEOUT 300)
  target_include_directories(race_client_parts PRIVATE ${integration})
  sycl_race_test(race_client_pages SOURCES client_pages.c ${integration}/client_service.c
    LIBS syclclient sycl_engine_core TIMEOUT 300)
  target_include_directories(race_client_pages PRIVATE ${integration})
  sycl_race_test(race_client_random SOURCES client_random.c ${integration}/client_service.c ${integration}/portable_fake.c
    ${integration}/random_threads.c ${integration}/random_threads_logs.c ${integration}/random_threads_stripes.c
    ${integration}/threads_history.c LIBS syclclient sycl_engine_core TIMEOUT 300)
  target_include_directories(race_client_random PRIVATE ${integration})
endif()
