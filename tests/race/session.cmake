# The engine inside of an application: its front thread, its device threads and the application's.
sycl_race_test(race_session_embedded SOURCES session_embedded.c
  ${PROJECT_SOURCE_DIR}/tests/integration/protocol/raw_client.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/embedded.c
  LIBS sycl_fake_offered sycl_engine_core TIMEOUT 120)
target_include_directories(race_session_embedded PRIVATE ${PROJECT_SOURCE_DIR}/tests/integration)
