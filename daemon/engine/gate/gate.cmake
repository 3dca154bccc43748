# The dispatch gate, for the engine, for its tests and for the simulator.
add_library(sycl_gate STATIC ${CMAKE_CURRENT_LIST_DIR}/gate.c ${CMAKE_CURRENT_LIST_DIR}/gate_step.c
  ${CMAKE_CURRENT_LIST_DIR}/gate_estimate.c ${CMAKE_CURRENT_LIST_DIR}/gate_grant.c
  ${CMAKE_CURRENT_LIST_DIR}/gate_probe.c)
target_include_directories(sycl_gate PUBLIC ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/..)
target_link_libraries(sycl_gate PRIVATE sycl_flags)
