# clawmark_room(NAME [DEPENDS rooms…] [LIBS libraries…]): a folder as one static library, made of every
# .cc below it. Which room may include which is data in tests/tidy_test.cc.
add_library(clawmark_options INTERFACE)
target_include_directories(clawmark_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(clawmark_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(CLAWMARK_WERROR)
  target_compile_options(clawmark_options INTERFACE -Werror)
endif()
if(CLAWMARK_FUZZ)
  target_compile_options(clawmark_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
find_program(MOLD mold)
if(MOLD)
  target_link_options(clawmark_options INTERFACE -fuse-ld=mold)
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  if(CLAWMARK_PCH)
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  endif()
endif()

include(sanitizers)

function(clawmark_room name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_library(clawmark_${name} STATIC ${sources})
  clawmark_precompile(clawmark_${name} clawmark_pch)
  target_link_libraries(clawmark_${name} PUBLIC clawmark_options ${ARG_LIBS})
  foreach(room IN LISTS ARG_DEPENDS)
    target_link_libraries(clawmark_${name} PUBLIC clawmark_${room})
  endforeach()
endfunction()

# Where the tree lies, for tests that read it. A header and not a definition on the command line, so
# that a compiler cache serves a checkout in another folder.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/test_paths.h CONTENT
"#pragma once
#define CLAWMARK_SOURCE_DIR \"@CMAKE_SOURCE_DIR@\"
#define CLAWMARK_BIN_DIR \"@CMAKE_RUNTIME_OUTPUT_DIRECTORY@\"
" @ONLY)

# clawmark_test(NAME SOURCES … ROOMS …): a GoogleTest binary, its cases listed one by one in ctest.
function(clawmark_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;ROOMS;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  clawmark_precompile(${name} clawmark_test_pch)
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main ${ARG_LIBS})
  foreach(room IN LISTS ARG_ROOMS)
    target_link_libraries(${name} PRIVATE clawmark_${room})
  endforeach()
  target_include_directories(${name} PRIVATE ${CMAKE_BINARY_DIR}/generated)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  clawmark_sanitized(${name} filter)
  if(filter STREQUAL "none")
    return()
  endif()
  if(CLAWMARK_SANITIZE)
    # One process for a suite: under a sanitizer most of a short test is the start of its process.
    add_test(NAME ${name} COMMAND ${name} "--gtest_filter=${filter}" --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800 LABELS "${ARG_LABELS}")
    return()
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "${filter}" DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

add_library(clawmark_net STATIC ${CMAKE_SOURCE_DIR}/cmake/net/net_impl.cc)
target_compile_definitions(clawmark_net PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_DISABLE_BOOST_COROUTINE)
target_link_libraries(clawmark_net PUBLIC Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
if(CLAWMARK_SANITIZE)
  target_compile_options(clawmark_net PRIVATE ${CLAWMARK_SANITIZE_OPTIONS})
endif()
