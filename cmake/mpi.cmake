# SPDX-License-Identifier: MIT
# Debian's MPICH where it is, because another MPI may be the machine's default; else what FindMPI finds.
if(NOT MPI_CXX_COMPILER AND NOT MPI_HOME AND NOT DEFINED ENV{MPI_HOME})
  find_program(mpicxx_of_mpich mpicxx.mpich)
  mark_as_advanced(mpicxx_of_mpich)
  if(mpicxx_of_mpich)
    set(MPI_CXX_COMPILER ${mpicxx_of_mpich} CACHE FILEPATH "The MPI compiler wrapper")
  endif()
endif()
find_package(MPI QUIET COMPONENTS CXX)
