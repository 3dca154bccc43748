# The build service's sources, for sycl_engine_core and for tests that need nothing else of the engine.
set(BUILD_SOURCES)
foreach(name build_service build_channel build_file build_cache build_keep build_name build_objects build_helper build_child)
  list(APPEND BUILD_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
endforeach()
