# SPDX-License-Identifier: MIT
# On a simulated cluster SimGrid's mpi.h and library are the MPI. Its compiler wrapper is not used: it redefines exit,
# sleep and the like in every source.
if(STEELYARD_SIMULATED)
  find_path(simgrid_INCLUDE_DIR smpi/mpi.h)
  find_library(simgrid_LIBRARY simgrid)
  if(simgrid_INCLUDE_DIR AND simgrid_LIBRARY)
    add_library(MPI::MPI_CXX INTERFACE IMPORTED GLOBAL)
    target_include_directories(MPI::MPI_CXX INTERFACE ${simgrid_INCLUDE_DIR}/smpi)
    target_link_libraries(MPI::MPI_CXX INTERFACE ${simgrid_LIBRARY})
    set(MPI_CXX_FOUND TRUE)
    set(MPI_CXX_COMPILER "SimGrid's SMPI")
  endif()
  return()
endif()
# Debian's MPICH where it is, because another MPI may be the machine's default; else what FindMPI finds.
if(NOT MPI_CXX_COMPILER AND NOT MPI_HOME AND NOT DEFINED ENV{MPI_HOME})
  find_program(mpicxx_of_mpich mpicxx.mpich)
  mark_as_advanced(mpicxx_of_mpich)
  if(mpicxx_of_mpich)
    set(MPI_CXX_COMPILER ${mpicxx_of_mpich} CACHE FILEPATH "The MPI compiler wrapper")
  endif()
endif()
find_package(MPI QUIET COMPONENTS CXX)
