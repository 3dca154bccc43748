# Sessions over the bare protocol against an engine on a thread of the test, and against the program sycl-engine.
add_library(session_fixture STATIC raw_client.c engine_fixture.c)
target_include_directories(session_fixture PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(session_fixture PRIVATE sycl_flags PUBLIC sycl_engine_core)

sycl_test(session_hostile
  SOURCES session_hostile_protocol.c session_hostile_objects.c session_hostile_limits.c session_hostile_ends.c
    session_hostile_bridge.c session_hostile_graphs.c session_hostile_graph_memory.c session_hostile_native_commands.c session_hostile_natives.c session_hostile_share.c session_hostile_sub_devices.c session_hostile_tasks.c session_hostile_temporaries.c session_hostile_usm.c session_hostile_work.c
    hostile_fixture.c
  LIBS session_fixture TIMEOUT 120)
sycl_test(session_groups
  SOURCES session_groups_refusals.c session_groups_order.c session_groups_failures.c session_groups_results.c
    session_groups_boxes.c session_groups_images.c session_groups_link.c session_groups_parts.c session_groups_shapes.c session_groups_windows.c session_groups_bursts.c session_groups_graphs.c
    groups_fixture.c
  LIBS session_fixture TIMEOUT 120)
sycl_test(session_process SOURCES session_process.c LIBS session_fixture TIMEOUT 120)
if(TARGET session_process)
  target_compile_definitions(session_process PRIVATE SYCL_ENGINE_PROGRAM="$<TARGET_FILE:sycl-engine>")
  add_dependencies(session_process sycl-engine)
endif()
