# Shapes of command groups, and the records that are applied to them.
sycl_fuzz_target(resubmit SOURCES resubmit.c ${PROJECT_SOURCE_DIR}/daemon/engine/base/shape.c LIBS sycl_shared sycl_proto)
foreach(name fuzz_resubmit replay_resubmit)
  if(TARGET ${name})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/daemon/engine)
  endif()
endforeach()
