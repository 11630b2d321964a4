# The commit, for --version: -DCLAWMARK_COMMIT=…, else what git says when CMake configures. Written only when it differs, into a
# translation unit of its own.
set(CLAWMARK_COMMIT "" CACHE STRING "commit that --version names; empty: git's, if any")
set(clawmark_commit "${CLAWMARK_COMMIT}")
if(NOT clawmark_commit AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE clawmark_commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(clawmark_version_text "${PROJECT_VERSION}")
if(clawmark_commit)
  string(APPEND clawmark_version_text " (${clawmark_commit})")
endif()
set(CLAWMARK_VERSION_SOURCE ${CMAKE_BINARY_DIR}/generated/version_text.cc)
file(CONFIGURE OUTPUT ${CLAWMARK_VERSION_SOURCE} CONTENT
"#include \"cmd/version.h\"

namespace clawmark {

std::string_view version_text() { return \"@clawmark_version_text@\"; }

}  // namespace clawmark
" @ONLY)
