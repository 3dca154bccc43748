# Nearly all of the time of many tests is PoCL's compiler. What of it they leave out shows nothing of this project's code. Only with PoCL 3,
# on which they have run that way: PoCL 5 ends the process for some kernels that were built with -cl-opt-disable.
# Each time: another version may have been installed since. Where there is no driver, there is nothing to leave out.
unset(pocl_ran CACHE)
unset(pocl_compiled CACHE)
try_run(pocl_ran pocl_compiled ${CMAKE_BINARY_DIR}/pocl_version ${CMAKE_CURRENT_LIST_DIR}/support/pocl_version.c
  LINK_LIBRARIES ${CMAKE_DL_LIBS} RUN_OUTPUT_VARIABLE pocl_version)
string(REGEX MATCH "^[0-9]+" pocl_major "${pocl_version}")

# PoCL compiles a kernel again for each size of work-groups that it is launched with. Without that one function serves all sizes, and a
# list that is compiled takes a third less. sycl_test_with_sizes() has it.
set(pocl_environment)
if("${pocl_major}" STREQUAL "3")
  set(pocl_environment "POCL_WORK_GROUP_SPECIALIZATION=0")
endif()

# sycl_test_with_sizes(name...): tests that run kernels as PoCL compiles them by itself.
function(sycl_test_with_sizes)
  foreach(name ${ARGN})
    if(TEST ${name} AND pocl_environment)
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "POCL_WORK_GROUP_SPECIALIZATION=1")
    endif()
  endforeach()
endfunction()

# sycl_test_without_optimiser(name...): tests of nothing that PoCL's optimiser could change. It is most of the time that PoCL takes
# for a kernel. Its share of the kernels' language is tested by the programs of conformance/, which have it.
function(sycl_test_without_optimiser)
  foreach(name ${ARGN})
    if(TEST ${name} AND "${pocl_major}" STREQUAL "3")
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable")
    endif()
  endforeach()
endfunction()
