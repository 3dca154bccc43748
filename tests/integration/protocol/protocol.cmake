# Sessions in the bare protocol, with an engine on a thread of the test, and with the program sycl-engine and fake devices.
add_library(session_fixture STATIC protocol/raw_client.c protocol/engine_fixture.c)
target_include_directories(session_fixture PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(session_fixture PRIVATE sycl_flags PUBLIC sycl_fake_backend sycl_engine_core)

sycl_test(session_hostile
  SOURCES protocol/hostile_protocol.c protocol/hostile_objects.c protocol/hostile_limits.c protocol/hostile_devices.c protocol/hostile_ends.c
    protocol/hostile_bridge.c protocol/hostile_graphs.c protocol/hostile_graphs_limits.c
    protocol/hostile_graphs_conditions.c protocol/hostile_graphs_fixture.c protocol/hostile_graph_memory.c protocol/hostile_native_commands.c protocol/hostile_natives.c protocol/hostile_share.c protocol/hostile_sub_devices.c protocol/hostile_tasks.c protocol/hostile_temporaries.c protocol/hostile_usm.c protocol/hostile_usm_copies.c protocol/hostile_work.c
    protocol/hostile_fixture.c
  LIBS session_fixture TIMEOUT 120)
sycl_test(session_groups
  SOURCES protocol/groups_refusals.c protocol/groups_order.c protocol/groups_failures.c protocol/groups_results.c protocol/groups_wakes.c
    protocol/groups_boxes.c protocol/groups_images.c protocol/groups_link.c protocol/groups_parts.c protocol/groups_shapes.c protocol/groups_windows.c protocol/groups_bursts.c protocol/groups_stretches.c protocol/groups_kept.c protocol/groups_kept_draws.c protocol/groups_graphs.c protocol/groups_graphs_kept.c
    protocol/groups_fixture.c
  LIBS session_fixture TIMEOUT 120)
sycl_test(session_process SOURCES protocol/process.c LIBS session_fixture TIMEOUT 120)
if(TARGET session_process)
  target_compile_definitions(session_process PRIVATE SYCL_ENGINE_PROGRAM="$<TARGET_FILE:sycl-engine-fake>")
  add_dependencies(session_process sycl-engine-fake)
endif()
