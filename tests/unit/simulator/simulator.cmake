# The simulator of syclbench sched.
sycl_test(unit_sim SOURCES simulator/simulator.c LIBS sycl_bench_sim)
