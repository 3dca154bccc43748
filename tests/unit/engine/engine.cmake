# The engine's parts without side effects: tables, ranges, numbers.
sycl_test(unit_engine SOURCES
  engine/failures.c
  engine/graph_order.c
  engine/group_window.c
  engine/limits.c
  engine/object_table.c
  engine/outbox.c
  engine/pool.c
  engine/profiles.c
  engine/session_poll.c
  engine/ranges.c
  engine/read_ahead.c
  engine/contention.c
  engine/shape.c
  engine/shares.c
  engine/usm_table.c
  LIBS sycl_engine_core)

# The check that main.c makes before anything else, and filters of system calls, with an invented
# scheduler. They are not in the library.
sycl_test(unit_engine_process SOURCES engine/mps.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/mps.c
  engine/filter.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/filter.c
  engine/strict.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/strict.c LIBS sycl_shared sycl_proto Threads::Threads)
if(TARGET unit_engine_process)
  target_include_directories(unit_engine_process PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine ${PROJECT_SOURCE_DIR}/daemon/backends)
endif()

# How an engine becomes its tenant in a process with threads: files of the program, not of the
# library.
sycl_test(unit_engine_privileges SOURCES engine/privileges.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/privileges.c
  ${PROJECT_SOURCE_DIR}/daemon/engine/process/privileges_check.c LIBS sycl_shared Threads::Threads)
if(TARGET unit_engine_privileges)
  target_include_directories(unit_engine_privileges PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine)
endif()

# This program has its own __assert_fail, as sycl-engine has.
sycl_test(engine_abort SOURCES engine/abort.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/abort.c
  LIBS sycl_shared)
if(TARGET engine_abort)
  target_include_directories(engine_abort PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine)
endif()

# Parts of a report. The rest of the engine is invented.
sycl_test(unit_engine_report SOURCES ${CMAKE_CURRENT_LIST_DIR}/report.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/report.c
  LIBS sycl_shared sycl_proto)
if(TARGET unit_engine_report)
  target_include_directories(unit_engine_report PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine ${PROJECT_SOURCE_DIR}/daemon/backends)
endif()

# The thread that reads sensors. The management library is invented.
sycl_test(unit_engine_sensors SOURCES engine/sensors.c ${PROJECT_SOURCE_DIR}/daemon/engine/process/sensors.c
  LIBS sycl_shared Threads::Threads)
if(TARGET unit_engine_sensors)
  target_include_directories(unit_engine_sensors PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine ${PROJECT_SOURCE_DIR}/daemon/backends)
endif()
