# The scheduler's parts of buffers, compared with one value for each byte.
sycl_fuzz_target(interval_map SOURCES interval_map.c ${PROJECT_SOURCE_DIR}/daemon/engine/base/interval_map.c LIBS sycl_shared)
foreach(name fuzz_interval_map replay_interval_map)
  if(TARGET ${name})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine)
  endif()
endforeach()
