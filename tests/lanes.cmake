# The lane of check.sh in which a test runs. Running every test twice takes an hour on two processors, and most of the second runs find
# nothing else.
#
#   plain     the build that a package has
#   address   the address and undefined sanitizers, and asserts
#
# The first of these rules that matches a test decides:
#   1. a label of the test that names a lane
#   2. label `again` (a second configuration of a list whose first run is under address) or `compiler` (nearly all of its time is a vendor's
#      compiler's): plain
#   3. folders abi, bench, gpu, race and support: plain
#   4. folders integration/processes, protocol and supervisor (real processes, hostile bytes): both
#   5. address
# `check.sh --long other` runs each test in the other lane. Races run under thread, too, and corpora with clang.

# sycl_test_lanes(): gives each test of this folder the label of its lane. It is deferred to the folder's end, when labels are complete.
# Vendors' compilers take minutes of one processor. Such tests begin before tests of which ctest has no times, so that others run beside
# them.
function(sycl_test_lanes)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(name ${tests})
    get_property(labels TEST ${name} PROPERTY LABELS)
    if(labels MATCHES "(^|;)(plain|address)(;|$)")
      continue()
    elseif(labels MATCHES "(^|;)(again|compiler|abi|bench|gpu|race|support)(;|$)")
      set(lanes plain)
    elseif(labels MATCHES "(^|;)(processes|protocol|supervisor)(;|$)")
      set(lanes plain address)
    else()
      set(lanes address)
    endif()
    set_property(TEST ${name} APPEND PROPERTY LABELS ${lanes})
    if(labels MATCHES "(^|;)compiler(;|$)")
      set_property(TEST ${name} PROPERTY COST 1200)
    endif()
  endforeach()
endfunction()
