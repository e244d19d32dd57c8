# SPDX-License-Identifier: MIT
# steelyard::balance, and steelyard::mpi where it was installed (find_package(steelyard COMPONENTS mpi) insists on it).
include(${CMAKE_CURRENT_LIST_DIR}/steelyardBalance.cmake)
if("mpi" IN_LIST steelyard_FIND_COMPONENTS)
  include(CMakeFindDependencyMacro)
  find_dependency(MPI COMPONENTS CXX)
  include(${CMAKE_CURRENT_LIST_DIR}/steelyardMpi.cmake OPTIONAL RESULT_VARIABLE steelyard_mpi_FOUND)
  if(NOT steelyard_mpi_FOUND)
    set(steelyard_FOUND FALSE)
    set(steelyard_NOT_FOUND_MESSAGE "its library for MPI was not installed there")
  endif()
endif()
