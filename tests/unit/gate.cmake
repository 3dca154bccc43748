# The dispatch gate, on an invented device with an invented clock.
sycl_test(unit_gate SOURCES ${CMAKE_CURRENT_LIST_DIR}/gate.c ${CMAKE_CURRENT_LIST_DIR}/gate_estimate.c ${CMAKE_CURRENT_LIST_DIR}/gate_grant.c
  ${CMAKE_CURRENT_LIST_DIR}/gate_company.c ${CMAKE_CURRENT_LIST_DIR}/gate_world.c LIBS sycl_fair_queue)
