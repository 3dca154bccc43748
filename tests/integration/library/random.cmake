# Random command groups against a serial model, on every kind of device. Then the execution model's tests on the double of NVIDIA's driver,
# with one GPU and with two.
if(TARGET syclclient)
  sycl_test_objects(random_objects SOURCES library/random_groups.c library/random_groups_actions.c library/random_groups_threads.c library/repeats.c library/resubmit.c library/random_threads.c
    library/random_threads_logs.c library/random_threads_stripes.c library/threads_history.c LIBS syclclient)
endif()
set(random_sources $<TARGET_OBJECTS:portable_objects> $<TARGET_OBJECTS:random_objects>)
sycl_test(client_random_fake SOURCES ${random_sources} library/portable_fake.c LIBS client_service TIMEOUT 600)
sycl_test(client_random_model SOURCES library/threads_history.c library/threads_history_model.c)
# Two backends in one program: the fake one beside PoCL, and the real devices that there are.
sycl_test(client_random_both SOURCES ${random_sources} library/portable_both.c LIBS client_service TIMEOUT 600)
if(TARGET client_random_both)
  target_compile_definitions(client_random_both PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
endif()
foreach(kind cpu gpu all)
  sycl_test(client_random_${kind} SOURCES ${random_sources} library/portable_embedded.c LIBS syclclient TIMEOUT 1800)
  if(TARGET client_random_${kind})
    add_dependencies(client_random_${kind} syclengine sycl-engine)
    string(TOUPPER ${kind} type)
    target_compile_definitions(client_random_${kind} PRIVATE PORTABLE_DEVICE_TYPE=SYCL_DEVICE_TYPE_${type}
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endforeach()
sycl_test_needs_gpu(client_random_gpu)

# one_more(NAME PROGRAM ENVIRONMENT...): runs the program once more, as another test.
function(one_more name program)
  if(TARGET ${program})
    add_test(NAME ${name} COMMAND ${program} --jobs=2 --tap=${CMAKE_BINARY_DIR}/tests/${name}.tap)
    sycl_test_properties(${name} 1800 "client")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ${ARGN})
    sycl_test_after(${name} ${program})
    set_property(TEST ${name} PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
  endif()
endfunction()

# fewer_seeds(NAME): uses two of the four seeds for random groups that client_random_fake and client_random_cpu have, except in --long rows.
# Those two differ in which thread runs host tasks.
function(fewer_seeds name)
  if(TEST ${name})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "SYCLD_RANDOM_SEEDS=2")
  endif()
endfunction()

# second_devices(NAME): the same code of this project with other devices.
function(second_devices name)
  if(TEST ${name})
    set_property(TEST ${name} APPEND PROPERTY LABELS again)
    fewer_seeds(${name})
  endif()
endfunction()

# replayed(NAME PROGRAM ENVIRONMENT...): runs its tests of graphs once more, launched node by node.
function(replayed name program)
  if(TARGET ${program})
    one_more(${name} ${program} "SYCLD_GRAPH=0" ${ARGN})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "CRITERION_TEST_PATTERN=graph_*/*")
  endif()
endfunction()

replayed(client_model_fake_replay client_model_fake)
replayed(client_model_cpu_replay client_model_cpu)
# Without a GPU this would be client_random_cpu again. Here it uses the devices of the double and of
# PoCL.
second_devices(client_random_all)
one_more(client_random_two_cpus client_random_cpu "POCL_DEVICES=pthread pthread")
# A device whose memory is not the host's, like that of a vendor's driver for a GPU.
foreach(subject model random)
  one_more(client_${subject}_discrete client_${subject}_cpu "OPENCL_LAYERS=$<TARGET_FILE:opencl_discrete>")
endforeach()
if(TEST client_model_discrete)
  set_property(TEST client_model_discrete APPEND PROPERTY LABELS again)
endif()
foreach(name client_random_both client_random_two_cpus client_random_discrete)
  fewer_seeds(${name})
endforeach()
if(TARGET fake_cuda AND SYCL_HAS_CUDA AND SYCLD_NVRTC)
  set(double "SYCLD_BACKEND_OPTIONS=cuda:library=$<TARGET_FILE:fake_cuda> cuda:nvrtc=${SYCLD_NVRTC}" "OCL_ICD_VENDORS=/nonexistent"
    "PORTABLE_DOUBLE=1")
  replayed(client_model_double_replay client_model_gpu ${double})
  if(TEST client_model_double_replay)
    set_property(TEST client_model_double_replay APPEND PROPERTY LABELS again)
  endif()
  one_more(client_random_double_cpu client_random_all "SYCLD_BACKEND_OPTIONS=cuda:library=$<TARGET_FILE:fake_cuda> cuda:nvrtc=${SYCLD_NVRTC}")
  second_devices(client_random_double_cpu)
  foreach(subject model random)
    one_more(client_${subject}_double client_${subject}_gpu ${double})
    # Under the sanitizers they take minutes, and they are nearly the last of their lane.
    if(TEST client_${subject}_double)
      set_property(TEST client_${subject}_double PROPERTY COST 1000)
    endif()
    one_more(client_${subject}_two_doubles client_${subject}_gpu ${double} "FAKE_CUDA=devices 2")
    sycl_test_after(client_${subject}_two_doubles client_${subject}_double)
    second_devices(client_${subject}_two_doubles)
  endforeach()
  fewer_seeds(client_random_double)
endif()
