# find_package(anyrdma) gives
#   anyrdma::sim, anyrdma::sim_static   the simulator, the C++ interface and both C APIs on simulated hosts
#   anyrdma::testing                    fixtures and matchers for GoogleTest, with anyrdma::sim; only where GoogleTest is found
#   anyrdma::testing_static             the same with anyrdma::sim_static
#   anyrdma::dropin                     librdmacm and libibverbs of anyrdma, for a program that is to run on them
# Headers of RDMA are the system's: libibverbs-dev and librdmacm-dev, as Debian calls them.
get_filename_component(_anyrdma_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)

if(NOT TARGET anyrdma::sim)
  find_package(Threads QUIET)
  find_package(GTest QUIET)

  add_library(anyrdma::sim SHARED IMPORTED)
  set_target_properties(anyrdma::sim PROPERTIES
    IMPORTED_LOCATION "${_anyrdma_prefix}/lib/libanyrdma_sim.so.0"
    IMPORTED_SONAME libanyrdma_sim.so.0
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_INCLUDE_DIRECTORIES "${_anyrdma_prefix}/include/anyrdma")

  add_library(anyrdma::sim_static STATIC IMPORTED)
  set_target_properties(anyrdma::sim_static PROPERTIES
    IMPORTED_LOCATION "${_anyrdma_prefix}/lib/libanyrdma_sim.a"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_INCLUDE_DIRECTORIES "${_anyrdma_prefix}/include/anyrdma"
    INTERFACE_LINK_LIBRARIES "boost_context;boost_json;boost_container;nl-route-3;nl-3;dw;elf;pthread;dl")

  if(TARGET GTest::gtest AND TARGET GTest::gmock)
    foreach(_anyrdma_kind "" _static)
      add_library(anyrdma::testing${_anyrdma_kind} STATIC IMPORTED)
      set_target_properties(anyrdma::testing${_anyrdma_kind} PROPERTIES
        IMPORTED_LOCATION "${_anyrdma_prefix}/lib/libanyrdma_testing.a"
        INTERFACE_LINK_LIBRARIES "anyrdma::sim${_anyrdma_kind};GTest::gmock;GTest::gtest")
    endforeach()
  endif()

  add_library(anyrdma::dropin_verbs SHARED IMPORTED)
  set_target_properties(anyrdma::dropin_verbs PROPERTIES
    IMPORTED_LOCATION "${_anyrdma_prefix}/lib/anyrdma/lib/libibverbs.so.1" IMPORTED_SONAME libibverbs.so.1)
  add_library(anyrdma::dropin SHARED IMPORTED)
  set_target_properties(anyrdma::dropin PROPERTIES
    IMPORTED_LOCATION "${_anyrdma_prefix}/lib/anyrdma/lib/librdmacm.so.1" IMPORTED_SONAME librdmacm.so.1
    INTERFACE_LINK_LIBRARIES anyrdma::dropin_verbs)
endif()

if(anyrdma_FIND_COMPONENTS)
  foreach(_anyrdma_component ${anyrdma_FIND_COMPONENTS})
    if(TARGET anyrdma::${_anyrdma_component})
      set(anyrdma_${_anyrdma_component}_FOUND TRUE)
    elseif(anyrdma_FIND_REQUIRED_${_anyrdma_component})
      set(anyrdma_FOUND FALSE)
      set(anyrdma_NOT_FOUND_MESSAGE
        "anyrdma has no ${_anyrdma_component} here: sim, sim_static, dropin, and where GoogleTest is found testing, testing_static.")
    endif()
  endforeach()
endif()
