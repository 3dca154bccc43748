# The simulator of syclbench sched: no service, no device.
add_library(sycl_bench_sim STATIC ${CMAKE_CURRENT_LIST_DIR}/sim_device.c ${CMAKE_CURRENT_LIST_DIR}/sim_policy.c
  ${CMAKE_CURRENT_LIST_DIR}/sim_run.c ${CMAKE_CURRENT_LIST_DIR}/sim_trace.c)
target_include_directories(sycl_bench_sim PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(sycl_bench_sim PRIVATE sycl_flags PUBLIC sycl_fair_queue sycl_shared m)
