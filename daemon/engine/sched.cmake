# The scheduler's sources.
set(SCHED_SOURCES)
foreach(name interval_map pool sched_account sched_admission sched_buffer sched_burst sched_cause sched_core sched_deadline sched_dependencies sched_device sched_discover sched_drop sched_dump sched_early sched_execute
        sched_event sched_expect sched_fill sched_flight sched_flow sched_gate sched_grant sched_graph sched_graph_worker sched_host_access sched_host_memory sched_lane sched_loader sched_loss sched_mailbox
        sched_inline sched_l2 sched_latency sched_native sched_native_command sched_notice sched_objects sched_open sched_pace sched_poison sched_pool sched_quiet sched_program sched_spill sched_spill_ahead sched_spill_copy spill_host spill_order sched_residency sched_shared sched_split sched_sub_device sched_submit sched_task sched_trace sched_use sched_usm
        sched_worker trace_ring)
  list(APPEND SCHED_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
endforeach()
