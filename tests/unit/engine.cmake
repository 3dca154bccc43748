# The engine's pure parts: tables, ranges, numbers.
sycl_test(unit_engine SOURCES
  engine_failures.c
  engine_group_window.c
  engine_limits.c
  engine_object_table.c
  engine_outbox.c
  engine_profiles.c
  engine_ranges.c
  engine_shares.c
  LIBS sycl_engine_core)
