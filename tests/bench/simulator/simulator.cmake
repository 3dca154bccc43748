# The simulator of syclbench sched: no service, no device.
add_library(sycl_bench_sim STATIC simulator/device.c simulator/policy.c
  simulator/run.c simulator/trace.c)
target_include_directories(sycl_bench_sim PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sycl_bench_sim PRIVATE sycl_flags PUBLIC sycl_fair_queue sycl_shared m)
