# The client library's parts that need no service. They use its objects, because the shared library hides these functions.
if(TARGET syclclient_objects)
  sycl_test(unit_client SOURCES
    client/arena_ranges.c
    client/copiers.c
    client/errors.c
    client/flight.c
    client/graph_edges.c
    client/greeting.c
    client/handler_shape.c
    client/handles.c
    client/lone_thread.c
    client/object_ids.c
    client/repeats.c
    client/shapes.c
    client/slots.c
    client/stream.c
    client/usm.c
    LIBS syclclient_objects)
  if(TARGET unit_client)
    target_compile_definitions(unit_client PRIVATE INSTALLED_ENGINE="${CMAKE_INSTALL_FULL_LIBDIR}/libsyclengine.so")
  endif()
endif()
# These use the library itself, because they test exported functions.
if(TARGET syclclient)
  sycl_test(client_no_handle SOURCES client/no_handle.c LIBS syclclient ${CMAKE_DL_LIBS})
  if(TARGET client_no_handle)
    target_compile_definitions(client_no_handle PRIVATE SYMBOL_MAP="${PROJECT_SOURCE_DIR}/client/libsyclclient.map")
  endif()
endif()
