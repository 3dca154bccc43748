# The scheduler's threads: the front, the devices', and the workers of the fake devices. Built from the sources of the unit tests' objects.
if(TARGET sched_harness)
  sycl_race_test(race_scheduler SOURCES ${CMAKE_CURRENT_LIST_DIR}/scheduler.c
    ${CMAKE_CURRENT_LIST_DIR}/../unit/scheduler/model.c
    ${CMAKE_CURRENT_LIST_DIR}/../unit/scheduler/model_groups.c
    ${CMAKE_CURRENT_LIST_DIR}/../unit/scheduler/model_stretch.c ${PROJECT_SOURCE_DIR}/daemon/engine/group/stretch.c
    LIBS sched_harness sycl_sched sycl_fake_backend sycl_backends sycl_shared)
endif()
# Polled devices, loaders, sharing, and the loss of a process.
if(TARGET sched_harness)
  sycl_race_test(race_sched_threads SOURCES ${CMAKE_CURRENT_LIST_DIR}/sched_threads.c
    LIBS sched_harness sycl_sched sycl_fake_backend sycl_backends sycl_shared)
endif()
# Sessions that end during their work.
if(TARGET sched_harness)
  sycl_race_test(race_sched_drop SOURCES ${CMAKE_CURRENT_LIST_DIR}/sched_drop.c
    LIBS sched_harness sycl_sched sycl_fake_backend sycl_backends sycl_shared)
endif()
# Programs that get numbers of dimensions while launches run.
if(TARGET sched_harness)
  sycl_race_test(race_sched_variants SOURCES ${CMAKE_CURRENT_LIST_DIR}/sched_variants.c
    LIBS sched_harness sycl_sched sycl_fake_backend sycl_backends sycl_shared)
endif()
