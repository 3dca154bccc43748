# The supervisor's record of use, and the control group of a client. Pure.
set(supervisor_folder ${PROJECT_SOURCE_DIR}/daemon/supervisor)
sycl_test(unit_accounts SOURCES supervisor/cgroup.c supervisor/account_table.c
  ${supervisor_folder}/base/account_table.c ${supervisor_folder}/base/cgroup.c ${supervisor_folder}/base/text.c LIBS sycl_shared)
if(TARGET unit_accounts)
  target_include_directories(unit_accounts PRIVATE ${supervisor_folder})
endif()

# This program has a log_write of its own.
sycl_test(unit_engine_groups SOURCES ${CMAKE_CURRENT_LIST_DIR}/engine_groups.c ${supervisor_folder}/engine/groups.c LIBS sycl_shared)
if(TARGET unit_engine_groups)
  target_include_directories(unit_engine_groups PRIVATE ${supervisor_folder})
endif()
