# The simulator of syclbench sched.
sycl_test(unit_sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/sim.c LIBS sycl_bench_sim)
