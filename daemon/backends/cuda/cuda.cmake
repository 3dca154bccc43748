# The CUDA backend needs the driver's headers, of CUDA 13.0 or newer, for types alone: the driver's library and NVRTC are
# opened at run time. Included by the backends' CMakeLists.txt.
set(SYCLD_CUDA_INCLUDE "" CACHE PATH "Folder with cuda.h and cudaTypedefs.h; empty: looked for")

# The version that a cuda.h is of, as 13000; 0: there is none.
function(sycl_cuda_version folder version_out)
  set(version 0)
  if(EXISTS ${folder}/cuda.h AND EXISTS ${folder}/cudaTypedefs.h)
    file(STRINGS ${folder}/cuda.h line REGEX "^#define CUDA_VERSION +[0-9]+" LIMIT_COUNT 1)
    if(line MATCHES "([0-9]+)$")
      set(version ${CMAKE_MATCH_1})
    endif()
  endif()
  set(${version_out} ${version} PARENT_SCOPE)
endfunction()

# Whether to build it; the folder; why not, in a few words.
function(sycl_cuda_find include_out reason_out)
  set(reason "no cuda.h with cudaTypedefs.h: give -DSYCLD_CUDA_INCLUDE=DIR")
  set(${include_out} "" PARENT_SCOPE)
  if(SYCLD_CUDA STREQUAL "AUTO" OR SYCLD_CUDA)
    foreach(folder "${SYCLD_CUDA_INCLUDE}" "$ENV{CUDA_HOME}/include" /usr/local/cuda/include /usr/include)
      sycl_cuda_version("${folder}" version)
      if(version GREATER_EQUAL 13000)
        set(${include_out} "${folder}" PARENT_SCOPE)
        set(reason "")
        break()
      elseif(version GREATER 0)
        set(reason "${folder}/cuda.h is of CUDA ${version}, 13000 is needed")
      endif()
    endforeach()
  else()
    set(reason "SYCLD_CUDA=${SYCLD_CUDA}")
  endif()
  set(${reason_out} "${reason}" PARENT_SCOPE)
endfunction()

sycl_cuda_find(cuda_include cuda_reason)
if(cuda_include)
  message(STATUS "The CUDA backend: headers in ${cuda_include}")
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*/*.c)
  target_sources(sycl_backends PRIVATE ${cuda_sources})
  # For this folder, its tests and the fake driver alone: the engine never includes the vendor's headers.
  add_library(sycl_cuda_headers INTERFACE)
  target_include_directories(sycl_cuda_headers INTERFACE ${CMAKE_CURRENT_LIST_DIR}/..)
  target_include_directories(sycl_cuda_headers SYSTEM INTERFACE ${cuda_include})
  target_link_libraries(sycl_backends PRIVATE sycl_cuda_headers)
  target_compile_definitions(sycl_backends PRIVATE SYCL_HAS_CUDA=1)
  set(SYCL_HAS_CUDA ON CACHE INTERNAL "The CUDA backend is built")
  sycl_embed_prelude(cuda cu)
  set(builtins ${CMAKE_CURRENT_LIST_DIR}/translate/builtins.cl)
  set(builtins_source ${CMAKE_CURRENT_BINARY_DIR}/cuda_translate_builtins.c)
  add_custom_command(OUTPUT ${builtins_source}
    COMMAND ${CMAKE_COMMAND} -DINPUTS=${builtins} -DOUTPUT=${builtins_source} -DNAME=cuda_translate_builtins
            -P ${prelude_folder}/embed.cmake
    DEPENDS ${builtins} ${prelude_folder}/embed.cmake VERBATIM)
  target_sources(sycl_backends PRIVATE ${builtins_source})
elseif(SYCLD_CUDA STREQUAL "AUTO" OR NOT SYCLD_CUDA)
  # What is not built is said in one line; the demo repeats it.
  set(SYCL_HAS_CUDA OFF CACHE INTERNAL "The CUDA backend is built")
  message(STATUS "Left out: the CUDA backend (${cuda_reason})")
else()
  message(FATAL_ERROR "SYCLD_CUDA=${SYCLD_CUDA}: ${cuda_reason}")
endif()
