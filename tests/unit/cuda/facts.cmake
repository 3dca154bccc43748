# The CUDA backend's clock and facts. The clock's arithmetic needs no part of CUDA.
set(cuda_clock_sources ${PROJECT_SOURCE_DIR}/daemon/backends/cuda/clock/bases.c
  ${PROJECT_SOURCE_DIR}/daemon/backends/cuda/clock/math.c)
sycl_test(unit_cuda_clock SOURCES cuda/clock_math.c cuda/clock_simulation.c ${cuda_clock_sources} LIBS sycl_shared m)
# It simulates hours of a clock. That takes a quarter of the time with the optimiser, which criterion_flags leaves out. Options of sources
# come last.
set_source_files_properties(cuda/clock_math.c cuda/clock_simulation.c ${cuda_clock_sources} PROPERTIES COMPILE_OPTIONS -O2)
if(TARGET unit_cuda_clock)
  target_include_directories(unit_cuda_clock PRIVATE ${PROJECT_SOURCE_DIR}/daemon/backends)
endif()
if(TARGET fake_cuda)
  sycl_test(unit_cuda_facts SOURCES cuda/clock.c cuda/facts.c cuda/preload.c LIBS sycl_backends sycl_cuda_headers sycl_shared Threads::Threads)
  if(TARGET unit_cuda_facts)
    target_include_directories(unit_cuda_facts PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda
      ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(unit_cuda_facts PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda>")
    add_dependencies(unit_cuda_facts fake_cuda)
  endif()
endif()
