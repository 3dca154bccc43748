# Lanes of the CUDA backend against a driver of a few functions, whose streams advance only when a test orders it. The files are compiled
# into the test, which defines the functions that they call of the rest of the backend.
if(TARGET sycl_cuda_headers)
  set(cuda_folder ${PROJECT_SOURCE_DIR}/daemon/backends/cuda)
  sycl_test(unit_cuda_lanes SOURCES
    cuda/fault_header.c
    cuda/lanes_backend.c
    cuda/lanes_chain.c
    cuda/lanes_copy.c
    cuda/lanes_driver.c
    cuda/lanes_exact.c
    cuda/lanes_fault.c
    cuda/lanes_mark.c
    cuda/lanes_order.c
    cuda/lanes_result.c
    cuda/lanes_row.c
    cuda/lanes_series.c
    cuda/lanes_settings.c
    cuda/lanes_signal.c
    ${cuda_folder}/driver/cupti.c
    ${cuda_folder}/lane/activity.c
    ${cuda_folder}/lane/begin.c
    ${cuda_folder}/lane/chain.c
    ${cuda_folder}/lane/chain_send.c
    ${cuda_folder}/lane/check.c
    ${cuda_folder}/lane/copy.c
    ${cuda_folder}/lane/fill.c
    ${cuda_folder}/memory/fill.c
    ${cuda_folder}/driver/environment.c
    ${cuda_folder}/driver/fault.c
    ${cuda_folder}/graph/fill.c
    ${cuda_folder}/graph/series.c
    ${cuda_folder}/lane/hold.c
    ${cuda_folder}/lane/mark.c
    ${cuda_folder}/lane/signal.c
    ${cuda_folder}/lane/own_kernels.c
    ${cuda_folder}/lane/lane.c
    ${cuda_folder}/lane/l2.c
    ${cuda_folder}/program/pace.c
    ${cuda_folder}/lane/partition.c
    ${cuda_folder}/lane/progress.c
    ${cuda_folder}/lane/room.c
    ${cuda_folder}/lane/row.c
    ${cuda_folder}/lane/row_send.c
    ${cuda_folder}/lane/send.c
    ${cuda_folder}/lane/series.c
    ${cuda_folder}/driver/settings.c
    ${cuda_folder}/lane/streams.c
    ${cuda_folder}/lane/submit.c
    ${cuda_folder}/lane/waits.c
    ${cuda_folder}/lane/burst.c
    ${cuda_folder}/../vendor_environment.c
    LIBS sycl_cuda_headers sycl_shared Threads::Threads)
  if(TARGET unit_cuda_lanes)
    # lanes_fault.c lets one kind of allocation fail.
    target_link_options(unit_cuda_lanes PRIVATE -Wl,--wrap=malloc)
    target_include_directories(unit_cuda_lanes PRIVATE ${PROJECT_SOURCE_DIR}/daemon/backends)
    get_target_property(cuda_header_folders sycl_cuda_headers INTERFACE_INCLUDE_DIRECTORIES)
    foreach(folder ${cuda_header_folders})
      if(EXISTS ${folder}/cuda.h)
        target_compile_definitions(unit_cuda_lanes PRIVATE CUDA_HEADER="${folder}/cuda.h")
      endif()
    endforeach()
  endif()
endif()
