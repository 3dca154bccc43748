# The engine's pure parts: tables, ranges, numbers.
sycl_test(unit_engine SOURCES
  engine_failures.c
  engine_graph_order.c
  engine_group_window.c
  engine_limits.c
  engine_object_table.c
  engine_outbox.c
  engine_pool.c
  engine_profiles.c
  engine_ranges.c
  engine_read_ahead.c
  engine_rivals.c
  engine_shape.c
  engine_shares.c
  engine_usm_table.c
  LIBS sycl_engine_core)

# What main.c asks before anything else: not in the library.
sycl_test(unit_engine_process SOURCES engine_mps.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/mps.c
  engine_filter.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/filter.c LIBS sycl_shared Threads::Threads)
if(TARGET unit_engine_process)
  target_include_directories(unit_engine_process PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine)
endif()

# How an engine becomes its tenant, with threads about: the program's own files, not the library's.
sycl_test(unit_engine_privileges SOURCES engine_privileges.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/privileges.c
  ${PROJECT_SOURCE_DIR}/daemon/engine/process/privileges_check.c LIBS sycl_shared Threads::Threads)
if(TARGET unit_engine_privileges)
  target_include_directories(unit_engine_privileges PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine)
endif()

# It has an __assert_fail of its own, as sycl-engine has.
sycl_test(engine_abort SOURCES ${CMAKE_CURRENT_LIST_DIR}/engine_abort.c ${CMAKE_CURRENT_LIST_DIR}/../../daemon/engine/process/abort.c
  LIBS sycl_shared)
if(TARGET engine_abort)
  target_include_directories(engine_abort PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../../daemon/engine)
endif()
