# SPDX-License-Identifier: MIT
# Writes FILE, a source with the commit of the tree SOURCE: its short hash, "-dirty" behind it where tracked files have changed,
# "unknown" where SOURCE is not the top of a git repository (a tarball, perhaps unpacked inside another project's). Leaves the
# file alone where nothing has changed.
cmake_minimum_required(VERSION 3.22)
set(commit unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-prefix OUTPUT_VARIABLE prefix RESULT_VARIABLE code
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(code EQUAL 0 AND prefix STREQUAL "")
    execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --exclude=* OUTPUT_VARIABLE found RESULT_VARIABLE code
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(code EQUAL 0)
      set(commit ${found})
    endif()
  endif()
endif()
set(text "// Written by commit.cmake.\nnamespace app {\nextern const char* const commit;\nconst char* const commit = \"${commit}\";\n}\n")
if(EXISTS ${FILE})
  file(READ ${FILE} old)
endif()
if(NOT text STREQUAL "${old}")
  file(WRITE ${FILE} "${text}")
endif()
