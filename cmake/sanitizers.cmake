# Which suites run under which sanitizer, and why; how those builds are made cheap.
#
# ASan and UBSan: whatever handles bytes of others, memory of its own or the store: all suites but those that only start our
# programs as processes, where the same code runs a second time, and the harnesses that take minutes. Without the scripts of
# clawmark-repl: its process lives under a limit of memory that ASan alone passes.
# TSan: the suites with threads, and no others: it finds nothing where one thread runs.
#
# The race found by it first: two threads could end the guard of the writer's loop at once (Driver::stop).
#
# A suite that is in neither list is not even built there. `NAME` runs whole, `NAME:FILTER` with a GoogleTest filter.
set(clawmark_no_scripts -Escape.*:RedTeam/*:Repl.*:Query.*a_script_*)
set(clawmark_asan_suites
  base_test log_test config_test sample_test log_format_test client_test restore_test store_builder_test
  models_rules_test models_text_test models_endpoint_test models_transport_test models_graph_test
  projections_test projections_graph_test sources_test
  serve_test:${clawmark_no_scripts}
  http_server_test tui_test web_page_test
  workers_machine_test workers_ingest_test workers_pipeline_test workers_graph_test workers_deletion_test workers_forget_test workers_moving_test
  reliability_fault_sweep_test:-*from_then_on* reliability_simulation_test reliability_safety_test
  fuzz_replay_test)
set(clawmark_tsan_suites
  models_transport_test   # connections on a thread of their own
  http_server_test        # sessions, the pool behind them, shutdown
  workers_pipeline_test   # the driver's thread, the bell, drains and commands from other threads
  # The query pool, the keeper of the vector index, readers beside a writer. Without the suites of the graph itself: one thread at a time
  # adds to a graph, and hnswlib locks its nodes in the order in which it meets them, which looks like a deadlock to be.
  serve_test:${clawmark_no_scripts}:VectorGraph.*:VectorSnapshot.*
  log_test                # readers beside a writer, the lock
  daemon_test)            # the whole service, as a process

# null, vptr, object-size: what ASan, or the processor, stops at anyway; alignment: x86 does not mind, and the formats that are
# read byte by byte are covered by the others. Left out, the build takes less than half of the time.
set(clawmark_unneeded_checks null,alignment,vptr,object-size,nonnull-attribute,returns-nonnull-attribute)

set(CLAWMARK_SANITIZE_OPTIONS "")
if(CLAWMARK_SANITIZE)
  set(CLAWMARK_SANITIZE_OPTIONS -fsanitize=${CLAWMARK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CLAWMARK_SANITIZE MATCHES "undefined" AND NOT CLAWMARK_FUZZ)
    list(APPEND CLAWMARK_SANITIZE_OPTIONS -fno-sanitize=${clawmark_unneeded_checks})
  endif()
  target_compile_options(clawmark_options INTERFACE ${CLAWMARK_SANITIZE_OPTIONS})
  target_link_options(clawmark_options INTERFACE -fsanitize=${CLAWMARK_SANITIZE})
endif()

# Most of a sanitizer build goes into parsing the same headers: two of them are parsed once, for the rooms and for the tests.
# (The ordinary build does without, so that a forgotten #include is found.)
if(CLAWMARK_PCH)
  set(nothing ${CMAKE_BINARY_DIR}/generated/pch.cc)  # compiled only for the header before it
  file(CONFIGURE OUTPUT ${nothing} CONTENT "")
  add_library(clawmark_pch OBJECT ${nothing})
  add_library(clawmark_test_pch OBJECT ${nothing})
  target_precompile_headers(clawmark_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h)
  target_precompile_headers(clawmark_test_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h <gmock/gmock.h> <gtest/gtest.h>)
  foreach(target IN ITEMS clawmark_pch clawmark_test_pch)
    target_link_libraries(${target} PRIVATE clawmark_options Boost::json)
    target_compile_options(${target} PUBLIC "SHELL:-Xclang -fno-pch-timestamp")
  endforeach()
  target_link_libraries(clawmark_test_pch PRIVATE GTest::gmock)
endif()
function(clawmark_precompile target pch)
  if(CLAWMARK_PCH)
    target_precompile_headers(${target} REUSE_FROM ${pch})
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# clawmark_sanitized(NAME OUT): the filter that suite NAME runs with in this build, "none" when it does not run here. Without a
# sanitizer: everything. Target `sanitized` builds what runs.
add_custom_target(sanitized)
function(clawmark_sanitized name out)
  set(${out} "*" PARENT_SCOPE)
  if(NOT CLAWMARK_SANITIZE)
    return()
  endif()
  set(suites ${clawmark_asan_suites})
  if(CLAWMARK_SANITIZE MATCHES "thread")
    set(suites ${clawmark_tsan_suites})
  endif()
  foreach(suite IN LISTS suites)
    if(suite MATCHES "^${name}(:(.*))?$")
      if(CMAKE_MATCH_2)
        set(${out} "${CMAKE_MATCH_2}" PARENT_SCOPE)
      endif()
      add_dependencies(sanitized ${name})
      return()
    endif()
  endforeach()
  set(${out} "none" PARENT_SCOPE)
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()
