# Random command groups against a serial model, on every kind of device; and the execution model's tests on the double of
# NVIDIA's driver, with one GPU and with two.
set(random_sources portable.c client_random.c)
sycl_test(client_random_fake SOURCES ${random_sources} portable_fake.c LIBS client_service TIMEOUT 600)
foreach(kind cpu gpu)
  sycl_test(client_random_${kind} SOURCES ${random_sources} portable_embedded.c LIBS syclclient TIMEOUT 600)
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
    sycl_test_properties(${name} 600 "client")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT ${ARGN})
    set_property(TEST ${name} PROPERTY FAIL_REGULAR_EXPRESSION "Tested: [^1-9]*0 ")
  endif()
endfunction()

one_more(client_random_two_cpus client_random_cpu "POCL_DEVICES=pthread pthread")
if(TARGET fake_cuda AND SYCL_HAS_CUDA AND SYCLD_NVRTC)
  set(double "SYCLD_BACKEND_OPTIONS=cuda:library=$<TARGET_FILE:fake_cuda> cuda:nvrtc=${SYCLD_NVRTC}" "OCL_ICD_VENDORS=/nonexistent")
  foreach(subject model random)
    one_more(client_${subject}_double client_${subject}_gpu ${double})
    one_more(client_${subject}_two_doubles client_${subject}_gpu ${double} "FAKE_CUDA=devices 2")
  endforeach()
endif()
