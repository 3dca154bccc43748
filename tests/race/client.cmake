# The library under many threads, clean under ThreadSanitizer.
if(TARGET syclclient_objects)
  sycl_race_test(race_client_handles SOURCES client_handles.c LIBS syclclient_objects)
endif()
if(TARGET client_service)
  foreach(part threads tasks graphs parts pages)
    sycl_race_test(race_client_${part} SOURCES client_${part}.c LIBS client_service TIMEOUT 300)
  endforeach()
  set(integration ${PROJECT_SOURCE_DIR}/tests/integration)
  sycl_race_test(race_client_random SOURCES client_random.c ${integration}/portable_fake.c ${integration}/random_threads.c
    ${integration}/random_threads_logs.c ${integration}/random_threads_stripes.c ${integration}/threads_history.c
    LIBS client_service TIMEOUT 1800)
  target_include_directories(race_client_random PRIVATE ${integration})
endif()
