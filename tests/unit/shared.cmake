# What daemon and client share.
sycl_test(unit_user_runtime SOURCES user_runtime.c LIBS sycl_shared)
