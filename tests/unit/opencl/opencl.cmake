# The OpenCL backend's clock and lanes. The clock is arithmetic without OpenCL; the lanes use a driver of a few functions.
set(opencl_folder ${PROJECT_SOURCE_DIR}/daemon/backends/opencl)
sycl_test(unit_opencl_timeline SOURCES opencl/timeline.c ${opencl_folder}/driver/timeline.c LIBS m)
sycl_test(unit_opencl_lanes SOURCES opencl/lanes.c ${opencl_folder}/lane/lane.c ${opencl_folder}/driver/pending.c ${opencl_folder}/driver/device_clock.c
  ${opencl_folder}/lane/begin.c ${opencl_folder}/driver/fault.c ${opencl_folder}/driver/timeline.c LIBS sycl_shared Threads::Threads m)
sycl_test(unit_opencl_launches SOURCES opencl/launches.c LIBS sycl_backends sycl_shared)
sycl_test(unit_opencl_checks SOURCES opencl/checks.c LIBS sycl_backends sycl_shared)
sycl_test(unit_opencl_rect SOURCES opencl/rect.c ${opencl_folder}/driver/rect.c ${opencl_folder}/driver/fault.c LIBS sycl_shared)
sycl_test(unit_opencl_log SOURCES opencl/log.c ${opencl_folder}/driver/log.c ${opencl_folder}/../build_log.c
  ${opencl_folder}/../portable_words.c ${opencl_folder}/../portable_tokens.c LIBS sycl_shared)
foreach(name unit_opencl_timeline unit_opencl_lanes unit_opencl_launches unit_opencl_checks unit_opencl_rect unit_opencl_log)
  if(TARGET ${name})
    target_include_directories(${name} PRIVATE ${opencl_folder} ${opencl_folder}/..)
    target_include_directories(${name} SYSTEM PRIVATE ${OPENCL_INCLUDE})
  endif()
endforeach()
