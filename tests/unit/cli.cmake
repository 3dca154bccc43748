# Parts of syclctl that need no service.
sycl_test(unit_cli SOURCES cli_table.c LIBS syclctl_table)
