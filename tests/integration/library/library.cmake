# The library against an engine on a thread of the test (fake backend), and against the embedded engine (PoCL).
if(TARGET syclclient AND TARGET sycl_engine_core)
  add_library(client_service STATIC library/service.c)
  target_include_directories(client_service PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(client_service PRIVATE sycl_flags PUBLIC syclclient sycl_fake_backend sycl_engine_core)
  sycl_test(client_basic SOURCES library/basic.c library/buffers.c library/codes.c library/errors_late.c library/facts.c
    library/groups.c library/host_events.c library/kernels_fake.c library/killed.c library/lost.c library/native_commands.c library/natives.c library/own_pages.c library/own_pages_memory.c library/own_pages_threads.c library/programs.c library/residency.c library/share.c
    library/share_events.c library/share_properties.c library/share_fixture.c
    LIBS client_service TIMEOUT 300)
  sycl_test(client_embedded SOURCES library/embedded.c LIBS syclclient TIMEOUT 300)
  if(TARGET client_embedded)
    add_dependencies(client_embedded syclengine sycl-engine)
    target_compile_definitions(client_embedded PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
  # With a driver that makes a built-in kernel from its list.
  if(TARGET client_embedded AND TARGET opencl_counter)
    add_dependencies(client_embedded opencl_counter)
    add_test(NAME client_embedded_builtins COMMAND client_embedded --filter *A28*
      --tap=${CMAKE_BINARY_DIR}/tests/client_embedded_builtins.tap)
    sycl_test_properties(client_embedded_builtins 60 "")
    set_property(TEST client_embedded_builtins APPEND PROPERTY ENVIRONMENT
      "OPENCL_LAYERS=$<TARGET_FILE:opencl_counter>" "OPENCL_COUNTER_HAS_BUILTINS=1")
    set_property(TEST client_embedded_builtins PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
    # And with one whose devices are custom ones: these only have built-in kernels.
    add_test(NAME client_embedded_custom COMMAND client_embedded --filter *R7*
      --tap=${CMAKE_BINARY_DIR}/tests/client_embedded_custom.tap)
    sycl_test_properties(client_embedded_custom 60 "")
    set_property(TEST client_embedded_custom APPEND PROPERTY ENVIRONMENT
      "OPENCL_LAYERS=$<TARGET_FILE:opencl_counter>" "OPENCL_COUNTER_IS_CUSTOM=1")
    set_property(TEST client_embedded_custom PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
  endif()
endif()
# CUDA devices through the public functions, on the double of the driver.
if(TARGET syclclient AND TARGET fake_cuda AND SYCL_HAS_CUDA)
  sycl_test(client_cuda_kernels SOURCES library/cuda_kernels.c LIBS syclclient TIMEOUT 300)
  if(TARGET client_cuda_kernels)
    add_dependencies(client_cuda_kernels syclengine sycl-engine fake_cuda)
    target_compile_definitions(client_cuda_kernels PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda>"
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
    if(SYCLD_NVRTC)
      target_compile_definitions(client_cuda_kernels PRIVATE NVRTC_LIBRARY="${SYCLD_NVRTC}")
    endif()
  endif()
  sycl_test(client_cuda SOURCES library/cuda.c library/cuda_lost.c LIBS syclclient TIMEOUT 120)
  if(TARGET client_cuda)
    add_dependencies(client_cuda syclengine sycl-engine fake_cuda)
    target_include_directories(client_cuda PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
    target_compile_definitions(client_cuda PRIVATE FAKE_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda>"
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endif()
# The checking mode, the same tests on the CPU device, on GPUs, and on the double of NVIDIA's driver: checking_test(NAME TYPE [CUDA]).
function(checking_test name type)
  cmake_parse_arguments(C "CUDA" "" "" ${ARGN})
  sycl_test(${name} SOURCES library/checking.c library/checking_races.c library/checking_device.c LIBS syclclient TIMEOUT 300)
  if(NOT TARGET ${name})
    return()
  endif()
  add_dependencies(${name} syclengine sycl-engine)
  target_compile_definitions(${name} PRIVATE CHECKING_DEVICE_TYPE=SYCL_DEVICE_TYPE_${type}
    TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  if(C_CUDA)
    add_dependencies(${name} fake_cuda)
    target_compile_definitions(${name} PRIVATE CHECKING_CUDA_LIBRARY="$<TARGET_FILE:fake_cuda>"
      NVRTC_LIBRARY="${SYCLD_NVRTC}")
  endif()
endfunction()
if(TARGET syclclient)
  checking_test(client_checking CPU)
  checking_test(client_checking_gpu GPU)
  sycl_test_needs_gpu(client_checking_gpu)
  if(TARGET fake_cuda AND SYCL_HAS_CUDA AND SYCLD_NVRTC)
    checking_test(client_checking_double GPU CUDA)
  endif()
endif()
# The driver's objects, counted.
if(TARGET syclclient AND TARGET opencl_counter)
  sycl_test(client_counts SOURCES library/counts.c LIBS syclclient ${CMAKE_DL_LIBS} TIMEOUT 120)
  if(TARGET client_counts)
    add_dependencies(client_counts syclengine sycl-engine opencl_counter)
    target_include_directories(client_counts PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/opencl_counter)
    target_compile_definitions(client_counts PRIVATE COUNTER_LIBRARY="$<TARGET_FILE:opencl_counter>"
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endif()
# What kernels print, through a service whose engine several programs share.
if(TARGET syclclient AND TARGET sycld AND TARGET sycl-engine AND TARGET syclctl AND TARGET sycl_test_support)
  sycl_test(client_output SOURCES library/output.c LIBS syclclient sycl_test_support sycl_shared PkgConfig::jansson TIMEOUT 300)
  if(TARGET client_output)
    add_dependencies(client_output sycld sycl-engine syclctl)
  endif()
endif()
# Two backends in one service.
if(TARGET client_service)
  sycl_test(client_backends SOURCES library/backends.c LIBS client_service TIMEOUT 120)
  if(TARGET client_backends)
    target_compile_definitions(client_backends PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endif()
# The execution model, the same tests on fake devices, on the CPU device alone and doubled, and on GPUs.
if(TARGET client_service)
  sycl_test_objects(portable_objects SOURCES library/portable.c LIBS syclclient)
  sycl_test_objects(model_objects SOURCES library/async.c library/blocking_graphs.c library/blocking_groups.c library/blocking_images.c
    library/blocking_kernels.c library/blocking_memory.c library/blocking_natives.c library/blocking_objects.c library/choice.c library/empty.c
    library/events.c library/frozen.c library/moves.c library/objects.c
    library/host_tasks.c library/order.c library/requisites.c library/access.c library/copies.c library/ends.c library/parts.c library/kernels_states.c
    library/graph_common.c library/graph_condition.c library/graph_record.c library/graph_launch.c library/graph_nodes.c library/graph_temporary.c library/graph_update.c
    LIBS syclclient)
  sycl_test_objects(model_real_objects SOURCES library/graph_usm.c library/held.c library/kernels_real.c library/streams.c LIBS syclclient)
  set(model_sources $<TARGET_OBJECTS:portable_objects> $<TARGET_OBJECTS:model_objects> library/blocking.c)
  sycl_test(client_model_fake SOURCES ${model_sources} library/portable_fake.c LIBS client_service TIMEOUT 900)
  sycl_test(client_graph_whole SOURCES library/graph_whole.c library/graph_changes.c library/graph_common.c $<TARGET_OBJECTS:portable_objects> library/portable_fake.c
    LIBS client_service TIMEOUT 300)
  foreach(kind cpu gpu)
    sycl_test(client_model_${kind} SOURCES ${model_sources} $<TARGET_OBJECTS:model_real_objects> library/portable_embedded.c
      LIBS syclclient TIMEOUT 900)
    if(TARGET client_model_${kind})
      add_dependencies(client_model_${kind} syclengine sycl-engine)
      string(TOUPPER ${kind} type)
      target_compile_definitions(client_model_${kind} PRIVATE PORTABLE_DEVICE_TYPE=SYCL_DEVICE_TYPE_${type}
        TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
    endif()
  endforeach()
  sycl_test_needs_gpu(client_model_gpu)
  foreach(kind fake cpu)
    if(TARGET client_model_${kind})
      target_compile_definitions(client_model_${kind} PRIVATE SYMBOL_MAP="${PROJECT_SOURCE_DIR}/client/libsyclclient.map")
    endif()
  endforeach()
  if(TARGET client_model_cpu)
    add_test(NAME client_model_two_cpus
      COMMAND client_model_cpu --jobs=2 --tap=${CMAKE_BINARY_DIR}/tests/client_model_two_cpus.tap)
    sycl_test_properties(client_model_two_cpus 900 "")
    set_property(TEST client_model_two_cpus APPEND PROPERTY ENVIRONMENT "POCL_DEVICES=pthread pthread")
    set_property(TEST client_model_two_cpus APPEND PROPERTY LABELS again)
    sycl_test_after(client_model_two_cpus client_model_cpu)
    set_property(TEST client_model_two_cpus PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
  endif()
endif()
# OpenCL's objects in the same process (PoCL).
find_library(SYCLD_TEST_OPENCL_LIBRARY OpenCL)
if(TARGET syclclient AND TARGET opencl_counter AND SYCLD_TEST_OPENCL_LIBRARY AND OPENCL_INCLUDE)
  sycl_test(client_opencl SOURCES library/opencl.c library/opencl_dimensions.c library/opencl_graphs.c library/opencl_memory.c library/opencl_native.c library/opencl_programs.c LIBS syclclient
    ${SYCLD_TEST_OPENCL_LIBRARY} ${CMAKE_DL_LIBS} TIMEOUT 300)
  if(TARGET client_opencl)
    add_dependencies(client_opencl syclengine sycl-engine opencl_counter)
    # The number of compute units is the same on every machine. PoCL cannot bind more threads than
    # there are processors.
    set_property(TEST client_opencl APPEND PROPERTY ENVIRONMENT POCL_MAX_PTHREAD_COUNT=4 POCL_AFFINITY=0)
    # Under the sanitizers it takes a minute of one processor.
    set_property(TEST client_opencl PROPERTY COST 900)
    target_include_directories(client_opencl PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/opencl_counter)
    target_include_directories(client_opencl SYSTEM PRIVATE ${OPENCL_INCLUDE})
    target_compile_definitions(client_opencl PRIVATE COUNTER_LIBRARY="$<TARGET_FILE:opencl_counter>"
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
    if(TARGET opencl_discrete)
      # Native commands behind a layer that also reports times of commands that have not ended.
      add_test(NAME client_opencl_discrete COMMAND client_opencl "--filter=opencl_native_commands/*" --jobs=2
        --tap=${CMAKE_BINARY_DIR}/tests/client_opencl_discrete.tap)
      sycl_test_properties(client_opencl_discrete 300 "")
      set_property(TEST client_opencl_discrete APPEND PROPERTY ENVIRONMENT "OPENCL_LAYERS=$<TARGET_FILE:opencl_discrete>")
      set_property(TEST client_opencl_discrete APPEND PROPERTY LABELS again)
      set_property(TEST client_opencl_discrete PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
      sycl_test_after(client_opencl_discrete client_opencl)
      add_dependencies(client_opencl opencl_discrete)
    endif()
  endif()
endif()
# The double of CUDA's driver runs the PTX that NVRTC makes of these two.
if(TARGET fake_cuda AND SYCL_HAS_CUDA AND SYCLD_NVRTC AND TARGET syclengine AND NOT SYCLD_SANITIZE)
  foreach(name graph_while cuda_variable)
    add_test(NAME example_${name}_double COMMAND ${name} embedded: -arch=compute_90)
    sycl_test_properties(example_${name}_double 60 plain)
    set_property(TEST example_${name}_double APPEND PROPERTY ENVIRONMENT "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/client-cache"
      "SYCLD_BACKEND_OPTIONS=cuda:library=$<TARGET_FILE:fake_cuda> cuda:nvrtc=${SYCLD_NVRTC}")
    add_dependencies(${name} fake_cuda)
  endforeach()
endif()
# Examples that need no service: graphs, native commands in them, variables. Those that need a GPU skip themselves without one. They end
# without releasing their objects.
foreach(name graph_stencil graph_while cuda_variable usm_list opencl_graph cublas_graph)
  if(TARGET ${name} AND TARGET syclengine AND NOT SYCLD_SANITIZE STREQUAL "thread")
    add_test(NAME example_${name} COMMAND ${name} embedded:)
    sycl_test_properties(example_${name} 60 "")
    set_property(TEST example_${name} APPEND PROPERTY ENVIRONMENT "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/tests/client-cache"
      "ASAN_OPTIONS=detect_leaks=0")
    set_tests_properties(example_${name} PROPERTIES SKIP_RETURN_CODE 77)
    add_dependencies(${name} syclengine sycl-engine)
  endif()
endforeach()
# The endpoint of the environment, and the programs that ignore it.
if(TARGET saxpy)
  add_test(NAME client_endpoint_secure COMMAND ${CMAKE_CURRENT_LIST_DIR}/endpoint_secure.sh $<TARGET_FILE:saxpy>)
  sycl_test_properties(client_endpoint_secure 60 "")
  set_tests_properties(client_endpoint_secure PROPERTIES SKIP_RETURN_CODE 77)
endif()
