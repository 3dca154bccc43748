# Nearly all of the time of many tests is PoCL's compiler. The parts of it that they leave out test nothing of this project's code. This is
# only for PoCL 3, with which they have run that way: PoCL 5 ends the process for some kernels that were built with -cl-opt-disable. It is
# determined each time, because another version may have been installed. Without a driver there is nothing to leave out.
unset(pocl_ran CACHE)
unset(pocl_compiled CACHE)
try_run(pocl_ran pocl_compiled ${CMAKE_BINARY_DIR}/pocl_version ${CMAKE_CURRENT_LIST_DIR}/support/pocl_version.c
  LINK_LIBRARIES ${CMAKE_DL_LIBS} RUN_OUTPUT_VARIABLE pocl_version)
string(REGEX MATCH "^[0-9]+" pocl_major "${pocl_version}")

# PoCL compiles a kernel again for each size of work-groups with which it is launched. Without that one function serves all sizes, and a
# list that is compiled takes a third less. sycl_test_with_sizes() keeps it.
set(pocl_environment)
if("${pocl_major}" STREQUAL "3")
  set(pocl_environment "POCL_WORK_GROUP_SPECIALIZATION=0")
endif()

# Before the first build of each process PoCL reads its library of built-in functions, 23,000 of them. That takes longer than a small build,
# and an engine has a process for each build. So tests use PoCL with a shorter library of the same code. It lacks conversions and
# mathematics of long vectors, halves in vectors, and conversions with a rounding mode, unless other functions call them. A kernel of a test
# that calls one is not built, and the log of its build names it. In that case remove the part of the name from both lists.
set(pocl_parts_left_out half2 half3 half4 half8 half16 char3 short3 int3 long3 float3 double3 Dv3_d shuffle Dv8_ Dv16_ _rtn _rtp _rtz)

# Each build also reads the header that declares these functions. It has 18,000 lines, and a small build takes two fifths less without
# those of what was left out.
set(pocl_declarations_left_out "^[a-z].*(_rt[npz]\\(|shuffle|half(2|3|4|8|16)[ _(]|_u?(char|short|int|long|float|double)3[_(]|\\(.*(double3|[a-z]8|[a-z]16)[ ,*)]).*;$")

# sycl_short_pocl(folder): makes it, a folder with links to PoCL's libraries and one of the drivers' .icd files, and lets tests use that.
function(sycl_short_pocl folder)
  set(haswell avx2)
  set(skylake-avx512 avx512)
  set(driver /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libpocl.so.2)
  if(NOT pocl_version MATCHES " ([^ ]*)-(haswell|skylake-avx512)\n" OR NOT EXISTS ${driver} OR DEFINED ENV{OCL_ICD_VENDORS})
    return()
  endif()
  set(library kernel-${CMAKE_MATCH_1}-${${CMAKE_MATCH_2}}.bc)
  set(full /usr/share/pocl/${library})
  set(short ${folder}/share/pocl/${library})
  set(program ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/support/pocl_library.c)
  set(include ${folder}/share/pocl/include)
  if(IS_SYMLINK ${include})
    file(REMOVE ${include}) # of an earlier version
  endif()
  file(MAKE_DIRECTORY ${include} ${folder}/lib/system ${folder}/vendors)
  file(GLOB headers /usr/share/pocl/include/*)
  foreach(header ${headers})
    get_filename_component(name ${header} NAME)
    if(NOT name STREQUAL "opencl-c.h")
      file(CREATE_LINK ${header} ${include}/${name} SYMBOLIC)
    endif()
  endforeach()
  # Those of other processors stay whole: POCL_KERNELLIB_NAME may name one.
  file(GLOB others /usr/share/pocl/kernel-*.bc)
  list(REMOVE_ITEM others ${full})
  foreach(other ${others})
    get_filename_component(name ${other} NAME)
    file(CREATE_LINK ${other} ${folder}/share/pocl/${name} SYMBOLIC)
  endforeach()
  file(CREATE_LINK ${driver} ${folder}/lib/system/libpocl.so.2 SYMBOLIC)
  file(CREATE_LINK /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pocl ${folder}/lib/system/pocl SYMBOLIC)
  # Also if there is no such file.
  if(${full} IS_NEWER_THAN ${short} OR ${program} IS_NEWER_THAN ${short} OR ${CMAKE_CURRENT_FUNCTION_LIST_FILE} IS_NEWER_THAN ${short})
    execute_process(COMMAND grep -vE "${pocl_declarations_left_out}" /usr/share/pocl/include/opencl-c.h
      OUTPUT_FILE ${include}/opencl-c.h.new RESULT_VARIABLE declared)
    if(NOT "${declared}" STREQUAL "0")
      return()
    endif()
    file(RENAME ${include}/opencl-c.h.new ${include}/opencl-c.h)
    unset(shortened CACHE)
    unset(shortener_compiled CACHE)
    try_run(shortened shortener_compiled ${CMAKE_BINARY_DIR}/pocl_library ${program} COMPILE_DEFINITIONS -D_GNU_SOURCE
      LINK_LIBRARIES ${CMAKE_DL_LIBS} RUN_OUTPUT_VARIABLE said ARGS ${driver} ${full} ${short}.new ${pocl_parts_left_out})
    if(NOT "${shortened}" STREQUAL "0")
      return()
    endif()
    file(RENAME ${short}.new ${short})
    string(STRIP "${said}" said)
    message(STATUS "PoCL's library for tests: ${said}")
  endif()
  # Other drivers are unchanged.
  file(GLOB icds /etc/OpenCL/vendors/*.icd)
  foreach(icd ${icds})
    get_filename_component(name ${icd} NAME)
    file(READ ${icd} text)
    if(text MATCHES "libpocl")
      file(WRITE ${folder}/vendors/${name} "${folder}/lib/system/libpocl.so.2\n")
    else()
      file(WRITE ${folder}/vendors/${name} "${text}")
    endif()
  endforeach()
  list(APPEND pocl_environment "OCL_ICD_VENDORS=${folder}/vendors")
  set(pocl_environment ${pocl_environment} PARENT_SCOPE)
endfunction()
if("${pocl_major}" STREQUAL "3" AND NOT SYCLD_FUZZ AND NOT SYCLD_SANITIZE MATCHES "thread|memory")
  sycl_short_pocl(${CMAKE_BINARY_DIR}/pocl)
endif()

# sycl_test_with_sizes(name...): tests that run kernels as PoCL compiles them by itself.
function(sycl_test_with_sizes)
  foreach(name ${ARGN})
    if(TEST ${name} AND pocl_environment)
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "POCL_WORK_GROUP_SPECIALIZATION=1")
    endif()
  endforeach()
endfunction()

# sycl_test_without_optimiser(name...): tests whose results PoCL's optimiser does not affect. It takes most of PoCL's time for a kernel. The
# programs of conformance/ use it, and so test its part of the kernels' language.
function(sycl_test_without_optimiser)
  foreach(name ${ARGN})
    if(TEST ${name} AND "${pocl_major}" STREQUAL "3")
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable")
    endif()
  endforeach()
endfunction()

# sycl_test_with_whole_pocl(name...): tests with PoCL as it is installed.
function(sycl_test_with_whole_pocl)
  foreach(name ${ARGN})
    if(TEST ${name} AND pocl_environment MATCHES "OCL_ICD_VENDORS")
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT_MODIFICATION "OCL_ICD_VENDORS=unset:")
    endif()
  endforeach()
endfunction()
