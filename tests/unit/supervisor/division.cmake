# How a device's time is divided among users, with the fair queues of their engines, on an invented device.
set(division_sources ${PROJECT_SOURCE_DIR}/daemon/supervisor/division/division.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/division/parts.c
  ${PROJECT_SOURCE_DIR}/daemon/supervisor/division/slots.c)
sycl_test(unit_division SOURCES supervisor/division.c supervisor/division_node.c ${division_sources}
  LIBS sycl_fair_queue sycl_shared)
if(TARGET unit_division)
  target_include_directories(unit_division PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
endif()
# Which engines give device memory back.
sycl_test(unit_memory_division SOURCES supervisor/memory.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/division/memory.c
  ${PROJECT_SOURCE_DIR}/daemon/supervisor/division/parts.c)
if(TARGET unit_memory_division)
  target_include_directories(unit_memory_division PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
endif()
# Readings of devices that several engines claim.
sycl_test(unit_sensors SOURCES supervisor/sensors.c ${PROJECT_SOURCE_DIR}/daemon/supervisor/admin/report_sensors.c LIBS sycl_proto)
if(TARGET unit_sensors)
  target_include_directories(unit_sensors PRIVATE ${PROJECT_SOURCE_DIR}/daemon/supervisor)
endif()
