# Fair queueing, compared with a model that consists only of lists.
sycl_fuzz_target(fair_queue SOURCES fair_queue.c LIBS sycl_fair_queue sycl_shared)
