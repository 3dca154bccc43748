# The scheduler on the fake backend: these tests need nothing else of the engine.
set(sched_folder ${CMAKE_CURRENT_LIST_DIR})
add_library(sched_harness OBJECT ${sched_folder}/sched_harness.c)
target_include_directories(sched_harness PUBLIC ${sched_folder})
target_link_libraries(sched_harness PRIVATE sycl_flags PUBLIC sycl_sched)

sycl_test(unit_scheduler SOURCES
  ${sched_folder}/interval_map.c
  ${sched_folder}/sched_order.c
  ${sched_folder}/sched_residency.c
  ${sched_folder}/sched_spill.c
  ${sched_folder}/sched_host.c
  ${sched_folder}/sched_parts.c
  ${sched_folder}/sched_parts_places.c
  ${sched_folder}/sched_drop.c
  ${sched_folder}/sched_failure.c
  ${sched_folder}/sched_lifetime.c
  ${sched_folder}/sched_quiet.c
  ${sched_folder}/sched_expect.c
  ${sched_folder}/sched_inline.c
  ${sched_folder}/sched_pace.c
  ${sched_folder}/sched_threads.c
  ${sched_folder}/sched_shared.c
  ${sched_folder}/sched_loss.c
  ${sched_folder}/sched_usm.c
  ${sched_folder}/sched_images.c
  ${sched_folder}/sched_tasks.c
  ${sched_folder}/sched_use.c
  ${sched_folder}/sched_early.c
  ${sched_folder}/sched_account.c
  ${sched_folder}/sched_burst.c
  ${sched_folder}/sched_class.c
  ${sched_folder}/sched_flow.c
  ${sched_folder}/sched_admission.c
  ${sched_folder}/sched_split.c
  ${sched_folder}/sched_graphs.c
  ${sched_folder}/sched_grant.c
  ${sched_folder}/sched_trace.c
  LIBS sched_harness sycl_sched sycl_backends sycl_shared Threads::Threads TIMEOUT 180)
sycl_test(unit_scheduler_property SOURCES ${sched_folder}/sched_property.c ${sched_folder}/sched_model.c
  LIBS sched_harness sycl_sched sycl_backends sycl_shared Threads::Threads TIMEOUT 120)
sycl_test(unit_fake SOURCES ${sched_folder}/fake_backend.c ${sched_folder}/fake_features.c LIBS sycl_backends sycl_shared Threads::Threads)
