# The client library's parts that need no service; they reach what the shared library hides through its objects.
if(TARGET syclclient_objects)
  sycl_test(unit_client SOURCES
    client_arena_ranges.c
    client_errors.c
    client_flight.c
    client_handles.c
    client_object_ids.c
    client_slots.c
    client_stream.c
    client_usm.c
    LIBS syclclient_objects)
endif()
