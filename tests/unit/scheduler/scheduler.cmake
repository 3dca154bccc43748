# The scheduler on the fake backend. These tests need no other part of the engine.
add_library(sched_harness OBJECT scheduler/harness.c)
target_include_directories(sched_harness PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sched_harness PRIVATE sycl_flags PUBLIC sycl_sched sycl_fake_backend)

sycl_test(unit_scheduler SOURCES
  engine/interval_map.c
  scheduler/order.c
  scheduler/residency.c
  scheduler/send_early.c
  worker/spill.c
  worker/spill_objects.c
  worker/spill_copies.c
  worker/spill_room.c
  engine/spill_log.c
  engine/spill_order.c
  worker/spill_fixture.c
  scheduler/host.c
  scheduler/moves.c
  scheduler/parts.c
  scheduler/parts_places.c
  scheduler/drop.c
  scheduler/pause.c
  scheduler/drop_shared.c
  scheduler/drop_support.c
  scheduler/failure.c
  scheduler/lifetime.c
  scheduler/variants.c
  engine/quiet.c
  worker/frees.c
  engine/expect.c
  scheduler/inline.c
  engine/pace.c
  worker/threads.c
  worker/lanes.c
  worker/host_memory.c
  scheduler/shared.c
  scheduler/loss.c
  scheduler/usm.c
  scheduler/images.c
  scheduler/tasks.c
  scheduler/use.c
  scheduler/present.c
  scheduler/early.c
  scheduler/account.c
  scheduler/arrival.c
  scheduler/burst.c
  scheduler/stretch.c
  scheduler/kept.c
  scheduler/kept_graph.c
  scheduler/class.c
  scheduler/flow.c
  worker/hold.c
  worker/quiesce.c
  scheduler/admission.c
  scheduler/shape.c
  scheduler/split.c
  scheduler/graphs.c
  scheduler/grant.c
  scheduler/trace.c
  LIBS sched_harness sycl_sched sycl_fake_backend sycl_backends sycl_shared Threads::Threads TIMEOUT 180)
sycl_test(unit_scheduler_property SOURCES scheduler/property.c scheduler/model.c scheduler/model_groups.c scheduler/model_stretch.c
  ${PROJECT_SOURCE_DIR}/daemon/engine/group/stretch.c
  LIBS sched_harness sycl_sched sycl_fake_backend sycl_backends sycl_shared Threads::Threads TIMEOUT 120)
sycl_test(unit_fake SOURCES fake_backend/backend.c fake_backend/features.c LIBS sycl_fake_backend sycl_backends sycl_shared Threads::Threads)
