# Real processes: applications, sycld and its engines, which are ended in every possible way.
if(TARGET syclclient AND TARGET sycld AND TARGET sycl-engine AND TARGET syclctl AND TARGET sycl_test_support
   AND NOT SYCLD_SANITIZE STREQUAL "thread" AND NOT SYCLD_SANITIZE STREQUAL "memory")
  add_executable(worker processes/programs/worker.c processes/programs/build.c processes/programs/calls.c processes/programs/chaos.c processes/programs/chaos_graph.c processes/programs/chaos_native.c processes/programs/chaos_pieces.c processes/programs/chaos_usm.c
    processes/programs/churn.c processes/programs/crowd.c processes/programs/cycles.c processes/programs/fault.c processes/programs/gpu.c processes/programs/mix.c processes/programs/native.c processes/programs/parts.c processes/programs/share.c processes/programs/sizes.c processes/programs/split.c processes/programs/take.c processes/programs/task.c processes/programs/trips.c processes/programs/undrained.c processes/programs/usm.c processes/programs/wait.c)
  target_link_libraries(worker PRIVATE sycl_flags syclclient sycl_shared sycl_proto)
  set_target_properties(worker PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

  sycl_test_objects(processes_objects SOURCES processes/common.c LIBS sycl_test_support sycl_shared PkgConfig::jansson)
  set(common $<TARGET_OBJECTS:processes_objects>)
  foreach(part sharing scale client_death engine_death filter gpu_faults gpu_listing gpu_share service_death builds switches classes shares split split_ends)
    set(name processes_${part})
    # How a device's time is divided, and how many clients one service has. Under a sanitizer most of the time is the sanitizer's own.
    set(lane)
    if(part MATCHES "^(scale|switches|classes|shares)$")
      set(lane plain)
    endif()
    sycl_test(${name} SOURCES processes/${part}.c ${common} LIBS sycl_test_support sycl_shared PkgConfig::jansson
      TIMEOUT 300 LABELS ${lane})
    if(TARGET ${name})
      add_dependencies(${name} worker sycld sycl-engine sycl-engine-fake syclctl)
    endif()
  endforeach()

  # The program that replays traces reads the recorded one. Only in plain builds, because that program belongs to the benchmarks.
  sycl_test(processes_trace SOURCES processes/trace.c ${common} LIBS sycl_test_support sycl_shared sycl_bench_sim PkgConfig::jansson
    TIMEOUT 300 LABELS plain)
  if(TARGET processes_trace)
    add_dependencies(processes_trace worker sycld sycl-engine syclctl syclbench)
  endif()

  if(TARGET processes_gpu_share)
    target_sources(processes_gpu_share PRIVATE processes/fake_service.c processes/gpu_share_parties.c processes/gpu_share_users.c)
  endif()

  # In these the test itself is the client.
  foreach(part adoption orders orders_limits orphans wakes)
    set(name processes_${part})
    sycl_test(${name} SOURCES processes/${part}.c ${common} LIBS syclclient sycl_test_support sycl_shared PkgConfig::jansson
      TIMEOUT 300)
    if(TARGET ${name})
      add_dependencies(${name} worker sycld sycl-engine sycl-engine-fake syclctl)
    endif()
  endforeach()

  sycl_test_needs_gpu(processes_gpu_faults)
  # The free memory of a GPU.
  if(TARGET processes_client_death)
    target_sources(processes_client_death PRIVATE ${PROJECT_SOURCE_DIR}/tests/bench/gpu/driver.c)
    target_include_directories(processes_client_death PRIVATE ${PROJECT_SOURCE_DIR}/tests/bench)
    target_link_libraries(processes_client_death PRIVATE ${CMAKE_DL_LIBS})
    set_property(TEST processes_client_death PROPERTY TIMEOUT 3600)
  endif()

  # On the double of NVIDIA's driver.
  if(TARGET fake_cuda AND SYCL_HAS_CUDA)
    if(SYCLD_NVRTC)
      set(with_compiler cuda_cycles cuda_split)
      if(TARGET cuda_native)
        list(APPEND with_compiler cuda_native)
      endif()
    endif()
    sycl_test_objects(fake_service_objects SOURCES processes/fake_service.c LIBS sycl_test_support sycl_shared PkgConfig::jansson)
    foreach(part cuda_chains cuda_faults cuda_filter cuda_linger cuda_missing cuda_standby cuda_traced ${with_compiler})
      set(name processes_${part})
      sycl_test(${name} SOURCES processes/${part}.c ${common} $<TARGET_OBJECTS:fake_service_objects>
        LIBS sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 300)
      if(TARGET ${name})
        add_dependencies(${name} worker sycld sycl-engine syclctl fake_cuda)
      endif()
    endforeach()
    # In this one the test itself is the client.
    sycl_test(processes_cuda_spill SOURCES processes/cuda_spill.c ${common} $<TARGET_OBJECTS:fake_service_objects>
      LIBS syclclient sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 300)
    if(TARGET processes_cuda_spill)
      add_dependencies(processes_cuda_spill sycld sycl-engine syclctl fake_cuda)
    endif()
    # Also over PoCL.
    sycl_test(processes_spill_trace SOURCES processes/spill_trace.c ${common} $<TARGET_OBJECTS:fake_service_objects>
      LIBS syclclient sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 300)
    if(TARGET processes_spill_trace)
      add_dependencies(processes_spill_trace sycld sycl-engine syclctl fake_cuda opencl_discrete)
    endif()
    sycl_test(processes_cuda_copies SOURCES processes/cuda_copies.c ${common} $<TARGET_OBJECTS:fake_service_objects>
      LIBS syclclient sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 300)
    if(TARGET processes_cuda_copies)
      add_dependencies(processes_cuda_copies sycld sycl-engine syclctl fake_cuda)
    endif()
    sycl_test(processes_cuda_loop SOURCES processes/cuda_loop.c ${common} $<TARGET_OBJECTS:fake_service_objects>
      LIBS syclclient sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 300)
    if(TARGET processes_cuda_loop)
      add_dependencies(processes_cuda_loop sycld sycl-engine syclctl fake_cuda)
    endif()
    # Half an hour with SYCLD_LONG.
    sycl_test(processes_chaos SOURCES processes/chaos.c processes/chaos_clients.c processes/chaos_engines.c processes/chaos_left.c
      processes/chaos_settings.c processes/common.c processes/fake_service.c
      LIBS sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 2700)
    if(TARGET processes_chaos)
      add_dependencies(processes_chaos worker sycld sycl-engine syclctl fake_cuda)
      # It takes minutes and little processor time, so it begins first, beside the others. The most expensive tests must not begin before a
      # test that others wait for (sycl_test_after). So a short one waits for this one.
      set_property(TEST processes_chaos PROPERTY COST 10000)
      sycl_test_after(processes_gpu_listing processes_chaos)
    endif()
    if(TARGET processes_cuda_traced)
      target_compile_definitions(processes_cuda_traced PRIVATE FAKE_CUPTI_LIBRARY="$<TARGET_FILE:fake_cupti>")
      add_dependencies(processes_cuda_traced fake_cupti)
    endif()
    if(TARGET processes_cuda_cycles)
      target_compile_definitions(processes_cuda_cycles PRIVATE NVRTC_LIBRARY="${SYCLD_NVRTC}")
    endif()
    if(TARGET processes_cuda_split)
      target_compile_definitions(processes_cuda_split PRIVATE NVRTC_LIBRARY="${SYCLD_NVRTC}")
    endif()
    if(TARGET processes_cuda_native)
      target_compile_definitions(processes_cuda_native PRIVATE NVRTC_LIBRARY="${SYCLD_NVRTC}")
      add_dependencies(processes_cuda_native cuda_native)
    endif()
  endif()

  # A CUDA program for processes_gpu_share: for a GPU, and for the double of its driver.
  find_program(SYCLD_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(SYCLD_NVCC AND TARGET sycl_cuda_headers)
    get_filename_component(nvcc_folder ${SYCLD_NVCC} DIRECTORY)
    set(importer ${CMAKE_BINARY_DIR}/tests/share_importer)
    add_custom_command(OUTPUT ${importer}
      COMMAND ${SYCLD_NVCC} -std=c++17 -O2 -arch=compute_75 -o ${importer} ${PROJECT_SOURCE_DIR}/tests/gpu/native/importer.cu
        -L${nvcc_folder}/../lib64/stubs -lcuda
      DEPENDS ${PROJECT_SOURCE_DIR}/tests/gpu/native/importer.cu VERBATIM)
    add_custom_target(share_importer ALL DEPENDS ${importer})
  endif()
  if(TARGET fake_cuda AND TARGET sycl_cuda_headers)
    # The same source as plain C.
    set(importer_c ${CMAKE_CURRENT_BINARY_DIR}/importer.c)
    configure_file(${PROJECT_SOURCE_DIR}/tests/gpu/native/importer.cu ${importer_c} COPYONLY)
    add_executable(share_importer_fake ${importer_c})
    target_link_libraries(share_importer_fake PRIVATE sycl_flags sycl_cuda_headers fake_cuda)
    set_target_properties(share_importer_fake PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    # The double has the driver's file name and another soname, which is the name that the linker records.
    add_custom_command(TARGET share_importer_fake POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE_NAME:fake_cuda>
        $<TARGET_FILE_DIR:fake_cuda>/libfake-cuda.so.1 VERBATIM)
    if(TARGET processes_gpu_share)
      add_dependencies(processes_gpu_share share_importer_fake)
    endif()
  endif()
endif()
# Native code on the CPU device ends these engines.
if(TARGET syclclient AND TARGET sycld AND TARGET syclctl AND TARGET sycl_test_support)
  sycl_test(client_aborted SOURCES library/aborted.c LIBS syclclient sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 180)
  if(TARGET client_aborted)
    target_compile_definitions(client_aborted PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
    add_dependencies(client_aborted sycld syclctl sycl-engine)
  endif()
endif()
