# The library against an engine on a thread of the test (fake backend), and against the embedded engine (PoCL).
if(TARGET syclclient AND TARGET sycl_engine_core)
  add_library(client_service STATIC client_service.c)
  target_include_directories(client_service PUBLIC ${CMAKE_CURRENT_LIST_DIR})
  target_link_libraries(client_service PRIVATE sycl_flags PUBLIC syclclient sycl_engine_core)
  sycl_test(client_basic SOURCES client_basic.c client_buffers.c client_errors_late.c client_groups.c client_lost.c
    LIBS client_service TIMEOUT 300)
  sycl_test(client_embedded SOURCES client_embedded.c LIBS syclclient TIMEOUT 300)
  if(TARGET client_embedded)
    add_dependencies(client_embedded syclengine sycl-engine)
    target_compile_definitions(client_embedded PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endif()
