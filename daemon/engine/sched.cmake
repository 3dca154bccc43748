# The scheduler's sources, for sycl_engine_core and for tests that need nothing else of the engine.
set(SCHED_SOURCES)
foreach(name sched_buffer sched_cause sched_core sched_dependencies sched_device sched_discover sched_dump sched_execute
        sched_flight sched_host_access sched_lane sched_mailbox sched_notice sched_pool sched_program sched_residency
        sched_submit sched_task sched_worker)
  list(APPEND SCHED_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
endforeach()
