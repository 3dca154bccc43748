# Parts of syclctl that need no service.
sycl_test(unit_cli SOURCES cli_table.c LIBS syclctl_table)
sycl_test(unit_cli_trace SOURCES cli_trace.c LIBS syclctl_trace sycl_bench_sim sycl_shared)
