# The dispatch gate, against a model that is only lists.
sycl_fuzz_target(dispatch_gate SOURCES dispatch_gate.c LIBS sycl_fair_queue sycl_shared)
