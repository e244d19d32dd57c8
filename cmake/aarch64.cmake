# SPDX-License-Identifier: MIT
# Cross-compiles for 64-bit Arm Linux with Debian's g++-aarch64-linux-gnu, against the libraries that scripts/arm.sh has
# unpacked. FindMPI and FindHDF5 ask compiler wrappers, and those of this machine would name its own libraries: where the
# two are is said here.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triplet aarch64-linux-gnu)
set(CMAKE_C_COMPILER ${triplet}-gcc)
set(CMAKE_CXX_COMPILER ${triplet}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})

get_filename_component(sysroot "${CMAKE_CURRENT_LIST_DIR}/../build-arm/sysroot" ABSOLUTE)
if(NOT EXISTS ${sysroot})
  message(FATAL_ERROR "There is no ${sysroot} with the libraries of aarch64; scripts/arm.sh --setup makes it")
endif()
set(libraries ${sysroot}/usr/lib/${triplet})
set(CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${sysroot}/usr/include/${triplet})  # as Debian's compilers have it
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${sysroot}/usr/include/${triplet})
# The program looks for its libraries where its machine has them, also in the sysroot under QEMU.
set(CMAKE_SKIP_RPATH ON)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${libraries}:${sysroot}/lib/${triplet}")

set(MPI_CXX_COMPILER ${CMAKE_CXX_COMPILER})
set(MPI_CXX_SKIP_MPICXX TRUE)
set(MPI_CXX_HEADER_DIR ${sysroot}/usr/include/${triplet}/mpich)
set(MPI_CXX_LIB_NAMES mpich)
set(MPI_mpich_LIBRARY ${libraries}/libmpich.so)
set(HDF5_C_COMPILER_EXECUTABLE NOTFOUND)
set(HDF5_ROOT ${libraries}/hdf5/serial)
