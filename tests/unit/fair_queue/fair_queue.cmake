# Fair queueing, on an invented device with an invented clock.
sycl_test(unit_fair_queue SOURCES fair_queue/fair_queue.c fair_queue/estimate.c fair_queue/grant.c
  fair_queue/company.c fair_queue/beside.c fair_queue/world.c LIBS sycl_fair_queue)
