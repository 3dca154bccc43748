# Random command groups against a serial model, on every kind of device; and the execution model's tests on the double of
# NVIDIA's driver, with one GPU and with two.
if(TARGET syclclient)
  sycl_test_objects(random_objects SOURCES client_random.c client_random_threads.c client_resubmit.c random_threads.c
    random_threads_logs.c random_threads_stripes.c threads_history.c LIBS syclclient)
endif()
set(random_sources $<TARGET_OBJECTS:portable_objects> $<TARGET_OBJECTS:random_objects>)
sycl_test(client_random_fake SOURCES ${random_sources} portable_fake.c LIBS client_service TIMEOUT 600)
sycl_test(client_random_model SOURCES threads_history.c threads_history_model.c)
# Two backends in one program: the fake one beside PoCL; whatever real devices there are.
sycl_test(client_random_both SOURCES ${random_sources} portable_both.c LIBS client_service TIMEOUT 600)
if(TARGET client_random_both)
  target_compile_definitions(client_random_both PRIVATE TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
endif()
foreach(kind cpu gpu all)
  sycl_test(client_random_${kind} SOURCES ${random_sources} portable_embedded.c LIBS syclclient TIMEOUT 1800)
  if(TARGET client_random_${kind})
    add_dependencies(client_random_${kind} syclengine sycl-engine)
    string(TOUPPER ${kind} type)
    target_compile_definitions(client_random_${kind} PRIVATE PORTABLE_DEVICE_TYPE=SYCL_DEVICE_TYPE_${type}
      TEST_CACHE="${CMAKE_BINARY_DIR}/tests/client-cache")
  endif()
endforeach()
sycl_test_needs_gpu(client_random_gpu)

# one_more(NAME PROGRAM ENVIRONMENT...): the program once more, as another test.
function(one_more name program)
  if(TARGET ${program})
    add_test(NAME ${name} COMMAND ${program} --jobs=2 --tap=${CMAKE_BINARY_DIR}/tests/${name}.tap)
    sycl_test_properties(${name} 1800 "client")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ${ARGN})
    set_property(TEST ${name} PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
  endif()
endfunction()

# replayed(NAME PROGRAM ENVIRONMENT...): its tests of graphs once more, launched node by node.
function(replayed name program)
  if(TARGET ${program})
    one_more(${name} ${program} "SYCLD_GRAPH=0" ${ARGN})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "CRITERION_TEST_PATTERN=graph_*/*")
  endif()
endfunction()

replayed(client_model_fake_replay client_model_fake)
replayed(client_model_cpu_replay client_model_cpu)
# Without a GPU it would be client_random_cpu again; here it is the double's and PoCL's devices.
if(TEST client_random_all)
  set_property(TEST client_random_all APPEND PROPERTY LABELS again)
endif()
one_more(client_random_two_cpus client_random_cpu "POCL_DEVICES=pthread pthread")
if(TARGET fake_cuda AND SYCL_HAS_CUDA AND SYCLD_NVRTC)
  set(double "SYCLD_BACKEND_OPTIONS=cuda:library=$<TARGET_FILE:fake_cuda> cuda:nvrtc=${SYCLD_NVRTC}" "OCL_ICD_VENDORS=/nonexistent"
    "PORTABLE_DOUBLE=1")
  replayed(client_model_double_replay client_model_gpu ${double})
  one_more(client_random_double_cpu client_random_all "SYCLD_BACKEND_OPTIONS=cuda:library=$<TARGET_FILE:fake_cuda> cuda:nvrtc=${SYCLD_NVRTC}")
  foreach(subject model random)
    one_more(client_${subject}_double client_${subject}_gpu ${double})
    one_more(client_${subject}_two_doubles client_${subject}_gpu ${double} "FAKE_CUDA=devices 2")
    if(TEST client_${subject}_two_doubles)
      set_property(TEST client_${subject}_two_doubles APPEND PROPERTY LABELS again)
    endif()
  endforeach()
endif()
