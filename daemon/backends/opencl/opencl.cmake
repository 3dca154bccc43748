# The vendor's headers give types only; the library is opened at run time. Included by the backends' CMakeLists.txt.
set(prelude_folder ${CMAKE_CURRENT_SOURCE_DIR}/prelude)

# The portable form's prelude, made a string by the build. First portable_LANGUAGE.EXTENSION. Then of each subject what the language has of
# its own (portable_LANGUAGE_SUBJECT.EXTENSION) and what both languages share (portable_SUBJECT.inc).
function(sycl_embed_prelude language extension)
  set(parts ${prelude_folder}/portable_${language}.${extension})
  foreach(subject types orders atomics groups math stream vectors with_images races check)
    foreach(part portable_${language}_${subject}.${extension} portable_${subject}.inc)
      if(EXISTS ${prelude_folder}/${part})
        list(APPEND parts ${prelude_folder}/${part})
      endif()
    endforeach()
  endforeach()
  list(JOIN parts "|" inputs)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/portable_${language}.c)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${inputs}" -DOUTPUT=${source} -DNAME=portable_prelude_${language}
            -P ${prelude_folder}/embed.cmake
    DEPENDS ${parts} ${prelude_folder}/embed.cmake VERBATIM)
  target_sources(sycl_backends PRIVATE ${source})
endfunction()

sycl_embed_prelude(opencl cl)
target_include_directories(sycl_backends PUBLIC ${prelude_folder})
target_include_directories(sycl_backends SYSTEM PRIVATE ${OPENCL_INCLUDE})
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/registry.c PROPERTIES COMPILE_DEFINITIONS SYCL_HAS_OPENCL=1)
