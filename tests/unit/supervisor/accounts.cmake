# The supervisor's record of use, and the control group of a client, without side effects.
set(supervisor_folder ${PROJECT_SOURCE_DIR}/daemon/supervisor)
sycl_test(unit_accounts SOURCES supervisor/cgroup.c supervisor/account_table.c
  ${supervisor_folder}/base/account_table.c ${supervisor_folder}/base/siphash.c ${supervisor_folder}/base/cgroup.c
  ${supervisor_folder}/base/text.c LIBS sycl_shared)
if(TARGET unit_accounts)
  target_include_directories(unit_accounts PRIVATE ${supervisor_folder})
endif()

# The file for the next service. Reads and writes can be interrupted.
sycl_test(unit_service_state SOURCES ${CMAKE_CURRENT_LIST_DIR}/service_state.c ${supervisor_folder}/service/service_state.c
  ${supervisor_folder}/base/kept_file.c LIBS sycl_shared)
if(TARGET unit_service_state)
  target_include_directories(unit_service_state PRIVATE ${supervisor_folder})
  target_link_options(unit_service_state PRIVATE -Wl,--wrap=read,--wrap=write)
endif()

# The list of open sessions for the next service. Writes can fail.
sycl_test(unit_open_sessions SOURCES ${CMAKE_CURRENT_LIST_DIR}/open_sessions.c ${supervisor_folder}/service/open_sessions.c
  ${supervisor_folder}/base/kept_file.c LIBS sycl_shared)
if(TARGET unit_open_sessions)
  target_include_directories(unit_open_sessions PRIVATE ${supervisor_folder})
  target_link_options(unit_open_sessions PRIVATE -Wl,--wrap=pwrite)
endif()

# Queries, with invented sessions.
sycl_test(unit_account_query SOURCES ${CMAKE_CURRENT_LIST_DIR}/account_query.c ${supervisor_folder}/account/query.c
  ${supervisor_folder}/base/account_table.c ${supervisor_folder}/base/siphash.c ${supervisor_folder}/base/cgroup.c
  ${supervisor_folder}/base/text.c LIBS sycl_shared sycl_proto PkgConfig::uv)
if(TARGET unit_account_query)
  target_include_directories(unit_account_query PRIVATE ${supervisor_folder})
endif()

# What is kept of engines' claims.
sycl_test(unit_claims SOURCES ${CMAKE_CURRENT_LIST_DIR}/claims.c ${supervisor_folder}/account/claims.c
  ${supervisor_folder}/account/claims_bound.c ${supervisor_folder}/admin/report_devices.c ${supervisor_folder}/base/uid_places.c ${supervisor_folder}/base/text.c
  ${supervisor_folder}/base/foreign_socket.c ${supervisor_folder}/service/session.c LIBS sycl_shared sycl_proto PkgConfig::uv)
if(TARGET unit_claims)
  target_include_directories(unit_claims PRIVATE ${supervisor_folder})
endif()

# This program has its own log_write.
sycl_test(unit_engine_groups SOURCES ${CMAKE_CURRENT_LIST_DIR}/engine_groups.c ${supervisor_folder}/engine/groups.c
  ${supervisor_folder}/base/cgroup.c ${supervisor_folder}/base/text.c LIBS sycl_shared)
if(TARGET unit_engine_groups)
  target_include_directories(unit_engine_groups PRIVATE ${supervisor_folder})
  target_link_options(unit_engine_groups PRIVATE -Wl,--wrap=unlinkat,--wrap=poll)
endif()

# Which sessions an engine gets and when; the rest of the engine's files is invented.
sycl_test(unit_hand_on SOURCES ${CMAKE_CURRENT_LIST_DIR}/hand_on.c ${supervisor_folder}/engine/hand_on.c
  ${supervisor_folder}/engine/sessions.c ${supervisor_folder}/engine/handles.c ${supervisor_folder}/service/unsettled.c
  ${supervisor_folder}/service/session.c ${supervisor_folder}/base/refusal.c ${supervisor_folder}/base/foreign_socket.c
  LIBS sycl_shared sycl_proto PkgConfig::uv)
if(TARGET unit_hand_on)
  target_include_directories(unit_hand_on PRIVATE ${supervisor_folder})
  target_link_options(unit_hand_on PRIVATE -Wl,--wrap=uv_now)
endif()

# Which sessions return with an engine; the rest of the engine's files is invented.
sycl_test(unit_return SOURCES ${CMAKE_CURRENT_LIST_DIR}/return.c ${supervisor_folder}/engine/return.c
  ${supervisor_folder}/engine/listed.c ${supervisor_folder}/service/open_sessions.c ${supervisor_folder}/base/kept_file.c
  ${supervisor_folder}/service/session.c ${supervisor_folder}/base/session_proof.c ${supervisor_folder}/base/siphash.c ${supervisor_folder}/base/foreign_socket.c
  ${supervisor_folder}/base/text.c LIBS sycl_shared sycl_proto PkgConfig::uv)
if(TARGET unit_return)
  target_include_directories(unit_return PRIVATE ${supervisor_folder})
endif()

# The order of look-ups, with an invented user database.
sycl_test(unit_lookup_order SOURCES ${CMAKE_CURRENT_LIST_DIR}/lookup_order.c ${supervisor_folder}/base/user_lookup.c
  LIBS sycl_shared PkgConfig::uv Threads::Threads)
if(TARGET unit_lookup_order)
  target_include_directories(unit_lookup_order PRIVATE ${supervisor_folder})
  target_link_options(unit_lookup_order PRIVATE -Wl,--wrap=uv_now,--wrap=uv_async_send)
endif()

# No thread starts here. This program has its own log_write, too.
sycl_test(unit_lookup_threads SOURCES ${CMAKE_CURRENT_LIST_DIR}/lookup_threads.c ${supervisor_folder}/account/tenant_identity.c
  ${supervisor_folder}/base/user_lookup.c ${supervisor_folder}/service/tenant_limits.c
  ${supervisor_folder}/base/user_names.c ${supervisor_folder}/base/text.c LIBS sycl_shared sycl_proto PkgConfig::uv Threads::Threads)
if(TARGET unit_lookup_threads)
  target_include_directories(unit_lookup_threads PRIVATE ${supervisor_folder})
  target_link_options(unit_lookup_threads PRIVATE -Wl,--wrap=pthread_create)
endif()

# Who gets a place of a bounded number.
sycl_test(unit_uid_places SOURCES ${CMAKE_CURRENT_LIST_DIR}/uid_places.c ${supervisor_folder}/base/uid_places.c)
if(TARGET unit_uid_places)
  target_include_directories(unit_uid_places PRIVATE ${supervisor_folder})
endif()

# The settings of a user, with an invented user database.
sycl_test(unit_user_question SOURCES ${CMAKE_CURRENT_LIST_DIR}/user_question.c ${supervisor_folder}/base/user_question.c LIBS sycl_shared)
if(TARGET unit_user_question)
  target_include_directories(unit_user_question PRIVATE ${supervisor_folder})
  target_link_options(unit_user_question PRIVATE -Wl,--wrap=getgrouplist)
endif()

# Sessions that wait until there can be an engine; the rest of the service's files is invented.
sycl_test(unit_arrivals SOURCES ${CMAKE_CURRENT_LIST_DIR}/arrivals.c ${supervisor_folder}/engine/tenant_arrivals.c
  LIBS sycl_shared sycl_proto PkgConfig::uv)
if(TARGET unit_arrivals)
  target_include_directories(unit_arrivals PRIVATE ${supervisor_folder})
  target_link_options(unit_arrivals PRIVATE -Wl,--wrap=uv_now)
endif()

# The socket of the service. This program has its own log_write, too.
sycl_test(unit_listener SOURCES ${CMAKE_CURRENT_LIST_DIR}/listener.c ${supervisor_folder}/base/listener.c
  ${supervisor_folder}/base/foreign_socket.c LIBS sycl_shared PkgConfig::uv PkgConfig::systemd)
if(TARGET unit_listener)
  target_include_directories(unit_listener PRIVATE ${supervisor_folder})
  target_link_options(unit_listener PRIVATE -Wl,--wrap=chmod,--wrap=listen,--wrap=uv_now)
endif()

# Folders of users.
sycl_test(unit_users_folder SOURCES ${CMAKE_CURRENT_LIST_DIR}/users_folder.c ${supervisor_folder}/base/runtime_directory.c
  LIBS sycl_shared)
if(TARGET unit_users_folder)
  target_include_directories(unit_users_folder PRIVATE ${supervisor_folder})
  target_compile_definitions(unit_users_folder PRIVATE SYCLD_RUNSTATEDIR="/run")
endif()

# Which users are served while that database fails. This program has its own log_write, too.
sycl_test(unit_tenant_identity SOURCES ${CMAKE_CURRENT_LIST_DIR}/tenant_identity.c ${supervisor_folder}/account/tenant_identity.c
  ${supervisor_folder}/service/tenant_limits.c ${supervisor_folder}/base/user_names.c ${supervisor_folder}/base/text.c
  LIBS sycl_shared sycl_proto PkgConfig::uv)
if(TARGET unit_tenant_identity)
  target_include_directories(unit_tenant_identity PRIVATE ${supervisor_folder})
endif()

# Which events are kept, and for which users. This program has its own log_write_with.
sycl_test(unit_events SOURCES ${CMAKE_CURRENT_LIST_DIR}/events.c ${supervisor_folder}/base/events.c ${supervisor_folder}/base/text.c)
if(TARGET unit_events)
  target_include_directories(unit_events PRIVATE ${supervisor_folder})
endif()
