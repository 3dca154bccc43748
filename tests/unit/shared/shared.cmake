# Tests of the code that daemon and client share.
sycl_test(unit_shared SOURCES
  shared/access_mode.c
  shared/control_group.c
  shared/copy_box.c
  shared/delay_histogram.c
  shared/flat_message.c
  shared/image.c
  shared/memory_region.c
  shared/nearest_word.c shared/wrong_option.c
  shared/object_id.c
  shared/packet.c
  shared/packet_socket.c
  shared/process_uids.c
  shared/processors.c
  shared/ring.c
  shared/ring_hostile.c
  shared/wake.c
  LIBS sycl_shared sycl_proto Threads::Threads m)

# With its source, which is in sycl_shared only in a build with -DSYCLD_STAGES=ON.
sycl_test(unit_stage_clock SOURCES shared/stage_clock.c ${PROJECT_SOURCE_DIR}/shared/stage_clock.c
  LIBS sycl_shared Threads::Threads)
if(TARGET unit_stage_clock)
  target_compile_definitions(unit_stage_clock PRIVATE SYCLD_STAGES)
endif()

sycl_test(unit_user_runtime SOURCES shared/user_runtime.c LIBS sycl_shared)
