# The library under many threads, clean under ThreadSanitizer.
if(TARGET syclclient_objects)
  sycl_race_test(race_client_handles SOURCES client_handles.c LIBS syclclient_objects)
endif()
sycl_race_test(race_client_sleeps SOURCES client_sleeps.c ${PROJECT_SOURCE_DIR}/client/lib/connection/wait.c
  LIBS sycl_shared sycl_proto TIMEOUT 300)
target_include_directories(race_client_sleeps PRIVATE ${PROJECT_SOURCE_DIR}/client/lib ${PROJECT_SOURCE_DIR}/include)
target_link_options(race_client_sleeps PRIVATE -Wl,--wrap=wake_sleep_on_flag)
# An hour: a doze that ends by itself would hide a wake-up that is lost.
target_compile_definitions(race_client_sleeps PRIVATE DOZE_NS=3600000000000u)
if(TARGET client_service)
  foreach(part threads tasks graphs parts pages repeats)
    sycl_race_test(race_client_${part} SOURCES client_${part}.c LIBS client_service TIMEOUT 300)
  endforeach()
  if(TARGET fake_cuda AND SYCL_HAS_CUDA)
    sycl_race_test(race_client_bridge SOURCES client_bridge.c LIBS client_service sycl_cuda_headers ${CMAKE_DL_LIBS} TIMEOUT 300)
    target_include_directories(race_client_bridge PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
    target_compile_definitions(race_client_bridge PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE_DIR:fake_cuda>/libcuda.so.1")
    add_dependencies(race_client_bridge fake_cuda)
  endif()
  set(integration ${PROJECT_SOURCE_DIR}/tests/integration)
  sycl_race_test(race_client_random SOURCES client_random.c ${integration}/library/portable_fake.c ${integration}/library/random_threads.c
    ${integration}/library/random_threads_logs.c ${integration}/library/random_threads_stripes.c ${integration}/library/threads_history.c
    LIBS client_service TIMEOUT 1800)
  target_include_directories(race_client_random PRIVATE ${integration})
endif()
