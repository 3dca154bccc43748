# Parts of syclctl that need no service.
sycl_test(unit_cli SOURCES cli/table.c LIBS syclctl_table)
sycl_test(unit_cli_trace SOURCES cli/trace.c LIBS syclctl_trace sycl_bench_sim sycl_shared)
