/*
 * One test for each golden message, whose text is golden/SUITE/NAME.txt ("golden_" and
 * "_bytes_never_change" are left out). They are the messages of version 0.1: if a test fails, peers
 * of another version misunderstand this one. Add a field, never change one, and leave the texts
 * unchanged. A new message gets a text and a line here.
 */
#include "golden.h"

#include <criterion/criterion.h>

/* clang-format off */

/* Users' use of devices. */
TestSuite(golden_account, .timeout = 10);
Test(golden_account, reply_with_accounts_bytes_never_change) { golden(); }

/* Requests of operators and their replies. */
TestSuite(golden_admin, .timeout = 10);
Test(golden_admin, request_of_status_bytes_never_change) { golden(); }
Test(golden_admin, request_of_devices_bytes_never_change) { golden(); }
Test(golden_admin, request_of_sessions_bytes_never_change) { golden(); }
Test(golden_admin, request_of_version_bytes_never_change) { golden(); }
Test(golden_admin, reply_with_error_bytes_never_change) { golden(); }
Test(golden_admin, reply_with_service_bytes_never_change) { golden(); }
Test(golden_admin, reply_with_devices_bytes_never_change) { golden(); }
Test(golden_admin, reply_with_engines_bytes_never_change) { golden(); }
Test(golden_admin, reply_with_sessions_bytes_never_change) { golden(); }
Test(golden_admin, reply_with_unavailable_bytes_never_change) { golden(); }

/* Boxes, ranges of host accesses, ranges that order. */
TestSuite(golden_box, .timeout = 10);
Test(golden_box, copy_with_box_bytes_never_change) { golden(); }
Test(golden_box, host_access_of_a_part_bytes_never_change) { golden(); }
Test(golden_box, requirement_of_a_part_bytes_never_change) { golden(); }

/* Native commands of clients in other processes. */
TestSuite(golden_bridge, .timeout = 10);
Test(golden_bridge, host_task_on_device_bytes_never_change) { golden(); }
Test(golden_bridge, command_with_buffer_export_at_once_bytes_never_change) { golden(); }

/* Between an engine and its build helper. */
TestSuite(golden_build, .timeout = 10);
Test(golden_build, packet_with_job_bytes_never_change) { golden(); }
Test(golden_build, packet_with_done_bytes_never_change) { golden(); }
Test(golden_build, packet_with_cancel_bytes_never_change) { golden(); }

/* Objects and bundles that are linked of them. */
TestSuite(golden_bundle, .timeout = 10);
Test(golden_bundle, command_with_bundle_link_bytes_never_change) { golden(); }
Test(golden_bundle, bundle_build_of_an_object_bytes_never_change) { golden(); }
Test(golden_bundle, build_result_with_more_kernels_bytes_never_change) { golden(); }
Test(golden_bundle, argument_facts_with_an_address_bytes_never_change) { golden(); }
Test(golden_bundle, build_job_that_links_bytes_never_change) { golden(); }
Test(golden_bundle, build_job_for_two_dimensions_bytes_never_change) { golden(); }
Test(golden_bundle, device_facts_with_il_version_bytes_never_change) { golden(); }

/* Counts of launches that were taken together. */
TestSuite(golden_burst, .timeout = 10);
Test(golden_burst, engine_report_with_bursts_bytes_never_change) { golden(); }
Test(golden_burst, engine_facts_with_bursts_bytes_never_change) { golden(); }

/* Counts of chains of launches. */
TestSuite(golden_chain, .timeout = 10);
Test(golden_chain, engine_report_with_chains_bytes_never_change) { golden(); }
Test(golden_chain, engine_facts_with_chains_bytes_never_change) { golden(); }

/* Sessions' classes and weights, and the decisions of the fair queue. */
TestSuite(golden_class, .timeout = 10);
Test(golden_class, hello_with_a_class_bytes_never_change) { golden(); }
Test(golden_class, welcome_with_a_class_bytes_never_change) { golden(); }
Test(golden_class, session_report_with_a_class_bytes_never_change) { golden(); }
Test(golden_class, session_facts_with_a_class_bytes_never_change) { golden(); }
Test(golden_class, engine_report_with_gates_bytes_never_change) { golden(); }
Test(golden_class, engine_facts_with_gates_bytes_never_change) { golden(); }

/* The submit ring without command groups. */
TestSuite(golden_command, .timeout = 10);
Test(golden_command, command_with_release_bytes_never_change) { golden(); }
Test(golden_command, command_with_arena_create_bytes_never_change) { golden(); }
Test(golden_command, command_with_arena_destroy_bytes_never_change) { golden(); }
Test(golden_command, command_with_discover_bytes_never_change) { golden(); }
Test(golden_command, command_with_context_create_bytes_never_change) { golden(); }
Test(golden_command, command_with_queue_create_bytes_never_change) { golden(); }
Test(golden_command, command_with_buffer_create_bytes_never_change) { golden(); }
Test(golden_command, command_with_bundle_build_bytes_never_change) { golden(); }
Test(golden_command, command_with_kernel_create_bytes_never_change) { golden(); }
Test(golden_command, command_with_command_group_bytes_never_change) { golden(); }
Test(golden_command, command_with_host_access_bytes_never_change) { golden(); }
Test(golden_command, command_with_usage_query_bytes_never_change) { golden(); }
Test(golden_command, command_with_profile_query_bytes_never_change) { golden(); }
Test(golden_command, command_with_ping_bytes_never_change) { golden(); }
Test(golden_command, release_bytes_never_change) { golden(); }
Test(golden_command, arena_create_bytes_never_change) { golden(); }
Test(golden_command, arena_destroy_bytes_never_change) { golden(); }
Test(golden_command, arena_range_bytes_never_change) { golden(); }
Test(golden_command, discover_bytes_never_change) { golden(); }
Test(golden_command, ping_bytes_never_change) { golden(); }
Test(golden_command, context_create_bytes_never_change) { golden(); }
Test(golden_command, queue_create_bytes_never_change) { golden(); }
Test(golden_command, buffer_create_bytes_never_change) { golden(); }
Test(golden_command, bundle_build_with_inline_source_bytes_never_change) { golden(); }
Test(golden_command, bundle_build_with_arena_source_bytes_never_change) { golden(); }
Test(golden_command, kernel_create_bytes_never_change) { golden(); }
Test(golden_command, usage_query_bytes_never_change) { golden(); }
Test(golden_command, profile_query_bytes_never_change) { golden(); }

/* IF and WHILE nodes of graphs. */
TestSuite(golden_condition, .timeout = 10);
Test(golden_condition, graph_condition_bytes_never_change) { golden(); }

/* The control socket. */
TestSuite(golden_control, .timeout = 10);
Test(golden_control, control_with_session_hand_off_bytes_never_change) { golden(); }
Test(golden_control, control_with_stop_bytes_never_change) { golden(); }
Test(golden_control, control_with_report_request_bytes_never_change) { golden(); }
Test(golden_control, control_with_ready_bytes_never_change) { golden(); }
Test(golden_control, control_with_session_state_bytes_never_change) { golden(); }
Test(golden_control, control_with_report_bytes_never_change) { golden(); }
Test(golden_control, session_hand_off_bytes_never_change) { golden(); }
Test(golden_control, engine_stop_bytes_never_change) { golden(); }
Test(golden_control, engine_report_request_bytes_never_change) { golden(); }
Test(golden_control, engine_ready_bytes_never_change) { golden(); }
Test(golden_control, session_state_bytes_never_change) { golden(); }
Test(golden_control, session_report_bytes_never_change) { golden(); }
Test(golden_control, engine_report_bytes_never_change) { golden(); }

/* Devices, kernels and launches: what was added after the first messages. */
TestSuite(golden_device, .timeout = 10);
Test(golden_device, device_facts_of_orders_and_identity_bytes_never_change) { golden(); }
Test(golden_device, device_facts_of_images_and_caches_bytes_never_change) { golden(); }
Test(golden_device, device_facts_with_backend_index_bytes_never_change) { golden(); }
Test(golden_device, kernel_facts_of_a_native_kernel_bytes_never_change) { golden(); }
Test(golden_device, A15_A28_kernel_facts_of_a_built_in_kernel_bytes_never_change) { golden(); }
Test(golden_device, launch_with_properties_bytes_never_change) { golden(); }
Test(golden_device, bundle_build_of_ptx_bytes_never_change) { golden(); }
Test(golden_device, bundle_build_of_a_cubin_bytes_never_change) { golden(); }
Test(golden_device, bundle_build_of_cuda_cpp_bytes_never_change) { golden(); }
Test(golden_device, command_with_occupancy_query_bytes_never_change) { golden(); }
Test(golden_device, reply_with_occupancy_bytes_never_change) { golden(); }
Test(golden_device, kernel_facts_with_presets_bytes_never_change) { golden(); }

/* How devices' time is divided among users. */
TestSuite(golden_division, .timeout = 10);
Test(golden_division, control_with_division_bytes_never_change) { golden(); }
Test(golden_division, control_with_wants_bytes_never_change) { golden(); }
Test(golden_division, reply_with_shares_bytes_never_change) { golden(); }

/* Native commands that begin early. */
TestSuite(golden_early, .timeout = 10);
Test(golden_early, host_task_with_early_event_bytes_never_change) { golden(); }

/* Executable graphs. */
TestSuite(golden_graph, .timeout = 10);
Test(golden_graph, graph_create_bytes_never_change) { golden(); }
Test(golden_graph, graph_node_bytes_never_change) { golden(); }
Test(golden_graph, graph_edges_bytes_never_change) { golden(); }
Test(golden_graph, graph_finish_bytes_never_change) { golden(); }
Test(golden_graph, graph_update_bytes_never_change) { golden(); }
Test(golden_graph, group_that_launches_a_graph_bytes_never_change) { golden(); }
Test(golden_graph, host_task_done_of_a_node_bytes_never_change) { golden(); }
Test(golden_graph, graph_finish_that_wants_an_answer_bytes_never_change) { golden(); }

/* Counts of launches of executable graphs. */
TestSuite(golden_graph_counts, .timeout = 10);
Test(golden_graph_counts, engine_report_with_graphs_bytes_never_change) { golden(); }
Test(golden_graph_counts, engine_facts_with_graphs_bytes_never_change) { golden(); }

/* More reasons for launches of executable graphs node by node. */
TestSuite(golden_graph_replays, .timeout = 10);
Test(golden_graph_replays, engine_report_with_replays_bytes_never_change) { golden(); }
Test(golden_graph_replays, engine_facts_with_replays_bytes_never_change) { golden(); }

/* A command group in the submit ring. */
TestSuite(golden_group, .timeout = 10);
Test(golden_group, command_group_with_launch_bytes_never_change) { golden(); }
Test(golden_group, command_group_with_an_event_bytes_never_change) { golden(); }
Test(golden_group, command_group_with_copy_bytes_never_change) { golden(); }
Test(golden_group, command_group_with_fill_bytes_never_change) { golden(); }
Test(golden_group, command_group_with_host_update_bytes_never_change) { golden(); }
Test(golden_group, requirement_bytes_never_change) { golden(); }
Test(golden_group, event_ref_bytes_never_change) { golden(); }
Test(golden_group, launch_bytes_never_change) { golden(); }
Test(golden_group, argument_with_accessor_bytes_never_change) { golden(); }
Test(golden_group, argument_with_bytes_bytes_never_change) { golden(); }
Test(golden_group, argument_with_local_bytes_bytes_never_change) { golden(); }
Test(golden_group, memory_end_with_requirement_bytes_never_change) { golden(); }
Test(golden_group, memory_end_with_arena_bytes_never_change) { golden(); }
Test(golden_group, memory_end_with_usm_address_bytes_never_change) { golden(); }
Test(golden_group, copy_bytes_never_change) { golden(); }
Test(golden_group, fill_bytes_never_change) { golden(); }
Test(golden_group, host_update_bytes_never_change) { golden(); }
Test(golden_group, host_access_bytes_never_change) { golden(); }

/* Images and samplers. */
TestSuite(golden_image, .timeout = 10);
Test(golden_image, command_with_image_create_bytes_never_change) { golden(); }
Test(golden_image, argument_with_image_bytes_never_change) { golden(); }
Test(golden_image, argument_with_sampled_image_bytes_never_change) { golden(); }
Test(golden_image, argument_with_sampler_bytes_never_change) { golden(); }
Test(golden_image, device_facts_with_image_formats_bytes_never_change) { golden(); }
Test(golden_image, command_with_layered_image_create_bytes_never_change) { golden(); }
Test(golden_image, device_facts_with_layered_sizes_bytes_never_change) { golden(); }

/* Counts of launches that the front thread sent itself. */
TestSuite(golden_inline, .timeout = 10);
Test(golden_inline, engine_report_with_inline_launches_bytes_never_change) { golden(); }
Test(golden_inline, engine_facts_with_inline_launches_bytes_never_change) { golden(); }

/* Counts of tasks that were submitted again. */
TestSuite(golden_kept, .timeout = 10);
Test(golden_kept, engine_report_with_kept_tasks_bytes_never_change) { golden(); }
Test(golden_kept, engine_facts_with_kept_tasks_bytes_never_change) { golden(); }

/* Compute units that are set apart. */
TestSuite(golden_latency, .timeout = 10);
Test(golden_latency, engine_report_with_units_set_apart_bytes_never_change) { golden(); }
Test(golden_latency, engine_facts_with_units_set_apart_bytes_never_change) { golden(); }

/* Launches that may begin before the launch before them has ended. */
TestSuite(golden_launch, .timeout = 10);
Test(golden_launch, launch_that_may_begin_early_bytes_never_change) { golden(); }

/* Memory of a device that several users share. */
TestSuite(golden_memory_room, .timeout = 10);
Test(golden_memory_room, control_with_memory_wanted_bytes_never_change) { golden(); }
Test(golden_memory_room, control_with_memory_answer_bytes_never_change) { golden(); }
Test(golden_memory_room, control_with_memory_request_bytes_never_change) { golden(); }
Test(golden_memory_room, control_with_memory_state_bytes_never_change) { golden(); }

/* Native objects. */
TestSuite(golden_native, .timeout = 10);
Test(golden_native, command_with_native_make_bytes_never_change) { golden(); }
Test(golden_native, command_with_native_get_bytes_never_change) { golden(); }
Test(golden_native, command_with_native_describe_bytes_never_change) { golden(); }
Test(golden_native, reply_with_native_handles_bytes_never_change) { golden(); }
Test(golden_native, reply_with_native_facts_bytes_never_change) { golden(); }

/* Native commands. */
TestSuite(golden_native_command, .timeout = 10);
Test(golden_native_command, command_group_with_native_command_bytes_never_change) { golden(); }

/* A native command of a client in another process as a node of a graph. */
TestSuite(golden_native_node, .timeout = 10);
Test(golden_native_node, graph_node_with_host_task_on_device_bytes_never_change) { golden(); }

/* The author of an order, and the limits in force. */
TestSuite(golden_operator, .timeout = 10);
Test(golden_operator, disputed_device_bytes_never_change) { golden(); }
Test(golden_operator, session_that_is_given_up_bytes_never_change) { golden(); }
Test(golden_operator, paused_session_bytes_never_change) { golden(); }
Test(golden_operator, report_of_a_paused_session_bytes_never_change) { golden(); }
Test(golden_operator, ended_session_bytes_never_change) { golden(); }
Test(golden_operator, report_of_an_ended_session_bytes_never_change) { golden(); }
Test(golden_operator, drained_service_bytes_never_change) { golden(); }
Test(golden_operator, drained_user_bytes_never_change) { golden(); }
Test(golden_operator, limits_query_bytes_never_change) { golden(); }
Test(golden_operator, limit_in_force_bytes_never_change) { golden(); }
Test(golden_operator, limit_of_session_bytes_never_change) { golden(); }
Test(golden_operator, kept_orders_bytes_never_change) { golden(); }
Test(golden_operator, kept_orders_limits_bytes_never_change) { golden(); }
Test(golden_operator, kept_orders_origins_bytes_never_change) { golden(); }
Test(golden_operator, kept_orders_session_limits_bytes_never_change) { golden(); }
Test(golden_operator, limit_with_origin_bytes_never_change) { golden(); }
Test(golden_operator, limit_ordered_bytes_never_change) { golden(); }
Test(golden_operator, events_query_bytes_never_change) { golden(); }
Test(golden_operator, reply_with_event_bytes_never_change) { golden(); }

/* Orders of operators, to the supervisor and from it to engines. */
TestSuite(golden_order, .timeout = 10);
Test(golden_order, control_with_order_bytes_never_change) { golden(); }
Test(golden_order, request_with_order_bytes_never_change) { golden(); }
Test(golden_order, reply_with_ordered_bytes_never_change) { golden(); }

/* What sessions and devices do now, and which operators have given orders. */
TestSuite(golden_present, .timeout = 10);
Test(golden_present, session_report_with_present_bytes_never_change) { golden(); }
Test(golden_present, engine_report_with_devices_bytes_never_change) { golden(); }
Test(golden_present, engine_report_with_an_occupancy_bytes_never_change) { golden(); }
Test(golden_present, session_facts_with_present_bytes_never_change) { golden(); }
Test(golden_present, session_facts_of_the_last_minute_bytes_never_change) { golden(); }
Test(golden_present, engine_facts_with_origin_bytes_never_change) { golden(); }
Test(golden_present, service_facts_with_origin_bytes_never_change) { golden(); }
Test(golden_present, reply_with_present_bytes_never_change) { golden(); }

/* The reply ring. */
TestSuite(golden_reply, .timeout = 10);
Test(golden_reply, reply_with_topology_bytes_never_change) { golden(); }
Test(golden_reply, reply_with_build_bytes_never_change) { golden(); }
Test(golden_reply, reply_with_kernel_bytes_never_change) { golden(); }
Test(golden_reply, reply_with_usage_bytes_never_change) { golden(); }
Test(golden_reply, reply_with_profile_bytes_never_change) { golden(); }
Test(golden_reply, reply_with_pong_bytes_never_change) { golden(); }
Test(golden_reply, reply_with_released_bytes_never_change) { golden(); }
Test(golden_reply, reply_with_object_failed_bytes_never_change) { golden(); }
Test(golden_reply, reply_with_group_failed_bytes_never_change) { golden(); }
Test(golden_reply, status_bytes_never_change) { golden(); }
Test(golden_reply, topology_bytes_never_change) { golden(); }
Test(golden_reply, platform_facts_bytes_never_change) { golden(); }
Test(golden_reply, device_facts_bytes_never_change) { golden(); }
Test(golden_reply, build_result_bytes_never_change) { golden(); }
Test(golden_reply, kernel_facts_bytes_never_change) { golden(); }
Test(golden_reply, argument_facts_bytes_never_change) { golden(); }
Test(golden_reply, usage_bytes_never_change) { golden(); }
Test(golden_reply, profile_bytes_never_change) { golden(); }
Test(golden_reply, pong_bytes_never_change) { golden(); }
Test(golden_reply, released_bytes_never_change) { golden(); }
Test(golden_reply, object_failed_bytes_never_change) { golden(); }
Test(golden_reply, group_failed_bytes_never_change) { golden(); }

/* Parts of images, general formats, views of buffers. */
TestSuite(golden_image_part, .timeout = 10);
Test(golden_image_part, copy_with_image_bytes_never_change) { golden(); }
Test(golden_image_part, fill_with_image_bytes_never_change) { golden(); }
Test(golden_image_part, argument_with_view_bytes_never_change) { golden(); }
Test(golden_image_part, argument_facts_with_access_bytes_never_change) { golden(); }
Test(golden_image_part, device_facts_with_general_formats_bytes_never_change) { golden(); }

/* What kernels print. */
TestSuite(golden_output, .timeout = 10);
Test(golden_output, reply_with_output_bytes_never_change) { golden(); }
Test(golden_output, output_bytes_never_change) { golden(); }

/* An engine that connects to another supervisor: the two may be of different releases. */
TestSuite(golden_return, .timeout = 10);
Test(golden_return, control_with_identity_bytes_never_change) { golden(); }
Test(golden_return, control_with_greeting_bytes_never_change) { golden(); }
Test(golden_return, control_with_return_bytes_never_change) { golden(); }
Test(golden_return, control_with_taken_bytes_never_change) { golden(); }

/* The session socket. */
TestSuite(golden_session, .timeout = 10);
Test(golden_session, packet_with_hello_bytes_never_change) { golden(); }
Test(golden_session, packet_with_welcome_bytes_never_change) { golden(); }
Test(golden_session, packet_with_error_bytes_never_change) { golden(); }
Test(golden_session, packet_with_wake_bytes_never_change) { golden(); }
Test(golden_session, packet_with_arena_grant_bytes_never_change) { golden(); }
Test(golden_session, hello_bytes_never_change) { golden(); }
Test(golden_session, welcome_bytes_never_change) { golden(); }
Test(golden_session, limits_bytes_never_change) { golden(); }
Test(golden_session, session_error_bytes_never_change) { golden(); }
Test(golden_session, wake_bytes_never_change) { golden(); }
Test(golden_session, arena_grant_bytes_never_change) { golden(); }

/* Shapes of command groups. */
TestSuite(golden_shape, .timeout = 10);
Test(golden_shape, command_group_that_defines_a_shape_bytes_never_change) { golden(); }
Test(golden_shape, usage_with_resubmitted_bytes_never_change) { golden(); }

/* Buffers and events that processes share. */
TestSuite(golden_share, .timeout = 10);
Test(golden_share, packet_with_buffer_grant_bytes_never_change) { golden(); }
Test(golden_share, buffer_create_to_export_bytes_never_change) { golden(); }
Test(golden_share, command_with_buffer_export_bytes_never_change) { golden(); }
Test(golden_share, command_with_buffer_import_bytes_never_change) { golden(); }
Test(golden_share, command_with_shared_event_create_bytes_never_change) { golden(); }
Test(golden_share, command_with_shared_event_create_behind_bytes_never_change) { golden(); }
Test(golden_share, command_with_shared_event_open_bytes_never_change) { golden(); }
Test(golden_share, command_group_that_records_bytes_never_change) { golden(); }
Test(golden_share, command_group_that_waits_bytes_never_change) { golden(); }
Test(golden_share, reply_with_buffer_exported_bytes_never_change) { golden(); }
Test(golden_share, reply_with_shared_event_created_bytes_never_change) { golden(); }

/* Counts of memory that was spilled. */
TestSuite(golden_spill, .timeout = 10);
Test(golden_spill, engine_report_with_spills_bytes_never_change) { golden(); }
Test(golden_spill, engine_facts_with_spills_bytes_never_change) { golden(); }
Test(golden_spill, control_with_spilled_bytes_never_change) { golden(); }

/* Launches that may be sent in parts, and counts of those that were. */
TestSuite(golden_split, .timeout = 10);
Test(golden_split, launch_that_may_be_split_bytes_never_change) { golden(); }
Test(golden_split, engine_report_with_splits_bytes_never_change) { golden(); }
Test(golden_split, engine_facts_with_splits_bytes_never_change) { golden(); }

/* The standby engine on the control socket. */
TestSuite(golden_standby, .timeout = 10);
Test(golden_standby, control_with_devices_in_use_bytes_never_change) { golden(); }
Test(golden_standby, control_with_standby_prepare_bytes_never_change) { golden(); }
Test(golden_standby, control_with_standby_ready_bytes_never_change) { golden(); }
Test(golden_standby, control_with_adopt_bytes_never_change) { golden(); }

/* Sub-devices. */
TestSuite(golden_sub_device, .timeout = 10);
Test(golden_sub_device, sub_devices_create_native_bytes_never_change) { golden(); }
Test(golden_sub_device, sub_devices_create_bytes_never_change) { golden(); }
Test(golden_sub_device, sub_devices_bytes_never_change) { golden(); }
Test(golden_sub_device, native_facts_of_a_sub_device_bytes_never_change) { golden(); }
Test(golden_sub_device, command_with_sub_devices_create_bytes_never_change) { golden(); }
Test(golden_sub_device, reply_with_sub_devices_bytes_never_change) { golden(); }

/* Nodes of graphs that are switched off. */
TestSuite(golden_switch, .timeout = 10);
Test(golden_switch, graph_switch_bytes_never_change) { golden(); }

/* Host tasks. */
TestSuite(golden_task, .timeout = 10);
Test(golden_task, command_group_with_host_task_bytes_never_change) { golden(); }
Test(golden_task, command_with_host_task_done_bytes_never_change) { golden(); }
Test(golden_task, host_task_done_that_succeeded_bytes_never_change) { golden(); }

/* Temporaries of graphs. */
TestSuite(golden_temporary, .timeout = 10);
Test(golden_temporary, buffer_create_of_a_temporary_bytes_never_change) { golden(); }
Test(golden_temporary, engine_report_with_memories_bytes_never_change) { golden(); }
Test(golden_temporary, engine_facts_with_memories_bytes_never_change) { golden(); }

/* Traces. */
TestSuite(golden_trace, .timeout = 10);
Test(golden_trace, control_with_request_bytes_never_change) { golden(); }
Test(golden_trace, control_with_trace_bytes_never_change) { golden(); }
Test(golden_trace, request_with_trace_bytes_never_change) { golden(); }
Test(golden_trace, reply_with_trace_bytes_never_change) { golden(); }
Test(golden_trace, control_with_exact_request_bytes_never_change) { golden(); }
Test(golden_trace, control_with_times_bytes_never_change) { golden(); }
Test(golden_trace, request_of_exact_times_bytes_never_change) { golden(); }
Test(golden_trace, reply_with_times_bytes_never_change) { golden(); }

/* Jobs of a cluster's manager. */
TestSuite(golden_jobs, .timeout = 10);
Test(golden_jobs, kept_jobs_bytes_never_change) { golden(); }
Test(golden_jobs, reply_with_account_row_of_job_bytes_never_change) { golden(); }
Test(golden_jobs, reply_with_engine_of_job_bytes_never_change) { golden(); }
Test(golden_jobs, reply_with_jobs_bytes_never_change) { golden(); }
Test(golden_jobs, reply_with_session_of_job_bytes_never_change) { golden(); }
Test(golden_jobs, request_for_accounts_of_job_bytes_never_change) { golden(); }
Test(golden_jobs, request_of_job_begin_bytes_never_change) { golden(); }
Test(golden_jobs, request_of_jobs_bytes_never_change) { golden(); }
Test(golden_jobs, session_report_with_memory_peak_bytes_never_change) { golden(); }

/* Use of devices, and the part that a service keeps in its folder. */
TestSuite(golden_usage, .timeout = 10);
Test(golden_usage, session_report_with_devices_bytes_never_change) { golden(); }
Test(golden_usage, session_state_with_devices_bytes_never_change) { golden(); }
Test(golden_usage, request_for_accounts_bytes_never_change) { golden(); }
Test(golden_usage, reply_with_account_rows_bytes_never_change) { golden(); }
Test(golden_usage, kept_accounts_bytes_never_change) { golden(); }

/* USM. */
TestSuite(golden_usm, .timeout = 10);
Test(golden_usm, command_with_placed_arena_bytes_never_change) { golden(); }
Test(golden_usm, command_with_usm_allocate_bytes_never_change) { golden(); }
Test(golden_usm, command_with_usm_free_bytes_never_change) { golden(); }
Test(golden_usm, reply_with_usm_allocated_bytes_never_change) { golden(); }
Test(golden_usm, group_with_usm_copy_bytes_never_change) { golden(); }
Test(golden_usm, group_with_usm_copy_back_bytes_never_change) { golden(); }
Test(golden_usm, group_with_usm_fill_bytes_never_change) { golden(); }
Test(golden_usm, group_with_usm_prefetch_bytes_never_change) { golden(); }
Test(golden_usm, group_with_usm_advise_bytes_never_change) { golden(); }
Test(golden_usm, group_with_usm_argument_bytes_never_change) { golden(); }

/* Variables of programs. */
TestSuite(golden_variable, .timeout = 10);
Test(golden_variable, usm_allocate_of_a_variable_bytes_never_change) { golden(); }
Test(golden_variable, usm_allocated_of_a_variable_bytes_never_change) { golden(); }

/* Windows of queues, and their largest size on a device. */
TestSuite(golden_window, .timeout = 10);
Test(golden_window, queue_window_bytes_never_change) { golden(); }
Test(golden_window, device_facts_with_windows_bytes_never_change) { golden(); }

/* Filters of system calls, and engines and devices that get no new sessions. */
TestSuite(golden_filter, .timeout = 10);
Test(golden_filter, engine_report_with_filter_bytes_never_change) { golden(); }
Test(golden_filter, engine_facts_with_filter_bytes_never_change) { golden(); }
Test(golden_filter, retired_device_bytes_never_change) { golden(); }
