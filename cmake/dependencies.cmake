# SPDX-License-Identifier: MIT
# Finds what the program and its tests need, each by its own package, and names all that is missing in one message.
# With STEELYARD_FETCH the header-only ones that are missing are fetched; their own CMake files are not run.
option(STEELYARD_FETCH "Fetch header-only libraries that are missing (fmt, CLI11, nlohmann_json, xxhash, Catch2)" OFF)
enable_language(C)  # FindHDF5 compiles C

# header_library(NAME TARGET REPOSITORY TAG FOLDER DEFINITIONS...): the target, from the repository's FOLDER of headers.
# -DFETCHCONTENT_SOURCE_DIR_<NAME IN CAPITALS>=... takes a copy on this machine instead.
function(header_library name target repository tag folder)
  FetchContent_Declare(${name} GIT_REPOSITORY https://github.com/${repository}.git GIT_TAG ${tag} GIT_SHALLOW TRUE
                       SOURCE_SUBDIR headers-only)  # there is no such folder: nothing but the download
  FetchContent_MakeAvailable(${name})
  add_library(fetched_${name} INTERFACE)
  add_library(${target} ALIAS fetched_${name})
  target_include_directories(fetched_${name} SYSTEM INTERFACE ${${name}_SOURCE_DIR}/${folder})
  target_compile_definitions(fetched_${name} INTERFACE ${ARGN})
endfunction()

# plain_library(NAME MODULE HEADER LIBRARY): target steelyard::NAME of a library that has no CMake package.
function(plain_library name module header library)
  if(PkgConfig_FOUND)
    pkg_check_modules(pc_${name} QUIET ${module})
  endif()
  find_path(${name}_INCLUDE_DIR ${header} HINTS ${${name}_ROOT} $ENV{${name}_ROOT} ${pc_${name}_INCLUDE_DIRS} PATH_SUFFIXES include)
  find_library(${name}_LIBRARY ${library} HINTS ${${name}_ROOT} $ENV{${name}_ROOT} ${pc_${name}_LIBRARY_DIRS} PATH_SUFFIXES lib)
  if(${name}_INCLUDE_DIR AND ${name}_LIBRARY)
    add_library(steelyard::${name} INTERFACE IMPORTED GLOBAL)
    target_include_directories(steelyard::${name} INTERFACE ${${name}_INCLUDE_DIR})
    target_link_libraries(steelyard::${name} INTERFACE ${${name}_LIBRARY})
  endif()
endfunction()

# Debian's MPICH where it is, because another MPI may be the machine's default; else what FindMPI finds.
if(NOT MPI_CXX_COMPILER AND NOT MPI_HOME AND NOT DEFINED ENV{MPI_HOME})
  find_program(mpicxx_of_mpich mpicxx.mpich)
  mark_as_advanced(mpicxx_of_mpich)
  if(mpicxx_of_mpich)
    set(MPI_CXX_COMPILER ${mpicxx_of_mpich} CACHE FILEPATH "The MPI compiler wrapper")
  endif()
endif()
find_package(MPI QUIET COMPONENTS CXX)
find_package(OpenMP QUIET COMPONENTS CXX)
# Only rank 0 calls HDF5, so a serial build of it is enough. A parallel one works too, but it must be of the same MPI.
find_package(HDF5 QUIET COMPONENTS C)
if(HDF5_FOUND)
  add_library(steelyard::hdf5 INTERFACE IMPORTED GLOBAL)
  target_include_directories(steelyard::hdf5 INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(steelyard::hdf5 INTERFACE ${HDF5_C_LIBRARIES})
endif()
find_package(yaml-cpp QUIET)
if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)  # before version 0.8
endif()
find_package(fmt QUIET)
find_package(CLI11 QUIET)
find_package(nlohmann_json QUIET)
find_package(PkgConfig QUIET)
plain_library(hwloc hwloc hwloc.h hwloc)
plain_library(xxhash libxxhash xxhash.h xxhash)
if(STEELYARD_TESTS)
  find_package(Catch2 2 QUIET)
endif()

if(STEELYARD_FETCH)
  include(FetchContent)
  if(NOT TARGET fmt::fmt)
    header_library(fmt fmt::fmt fmtlib/fmt 9.1.0 include FMT_HEADER_ONLY=1)
  endif()
  if(NOT TARGET CLI11::CLI11)
    header_library(cli11 CLI11::CLI11 CLIUtils/CLI11 v2.1.2 include)
  endif()
  if(NOT TARGET nlohmann_json::nlohmann_json)
    header_library(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json v3.11.2 include)
  endif()
  if(NOT TARGET steelyard::xxhash)
    header_library(xxhash steelyard::xxhash Cyan4973/xxHash v0.8.1 . XXH_INLINE_ALL=1)
  endif()
  if(STEELYARD_TESTS AND NOT TARGET Catch2::Catch2)
    header_library(catch2 Catch2::Catch2 catchorg/Catch2 v2.13.10 single_include)
  endif()
endif()

# need(FOUND NAME PURPOSE DEBIAN ELSEWHERE VARIABLE): notes what is missing. FOUND: a target or a variable.
set(missing)
function(need found name purpose debian elsewhere variable)
  if(NOT TARGET ${found} AND NOT ${found})
    string(APPEND missing "\n  ${name}, for ${purpose}\n      Debian: ${debian}; ${elsewhere}; or -D${variable}")
    set(missing "${missing}" PARENT_SCOPE)
  endif()
endfunction()
need(MPI_CXX_FOUND "MPI" "messages between ranks" mpich "a module such as openmpi or mpich" MPI_CXX_COMPILER=/path/bin/mpicxx)
need(OpenMP::OpenMP_CXX "OpenMP" "threads" "g++, or libomp-dev for clang" "a part of the compiler" CMAKE_CXX_COMPILER=g++)
need(steelyard::hdf5 "HDF5, serial or of the same MPI" "checkpoints and snapshots" libhdf5-dev "module, conda or Spack: hdf5" HDF5_ROOT=/path)
need(yaml-cpp::yaml-cpp "yaml-cpp" "reading decks" libyaml-cpp-dev "conda or Spack: yaml-cpp" yaml-cpp_ROOT=/path)
need(steelyard::hwloc "hwloc" "the cores of a node" libhwloc-dev "conda: libhwloc, Spack: hwloc" hwloc_ROOT=/path)
need(fmt::fmt "fmt *" "text" libfmt-dev "conda or Spack: fmt" fmt_ROOT=/path)
need(CLI11::CLI11 "CLI11 *" "the command line" libcli11-dev "conda or Spack: cli11" CLI11_ROOT=/path)
need(nlohmann_json::nlohmann_json "nlohmann_json *" "results in JSON" nlohmann-json3-dev
     "conda: nlohmann_json, Spack: nlohmann-json" nlohmann_json_ROOT=/path)
need(steelyard::xxhash "xxHash *" "checksums" libxxhash-dev "conda or Spack: xxhash" xxhash_ROOT=/path)
if(STEELYARD_TESTS)
  need(Catch2::Catch2 "Catch2 version 2 *" "the tests" catch2 "conda: catch2=2, Spack: catch2@2"
       "Catch2_ROOT=/path, or -DSTEELYARD_TESTS=OFF")
endif()
if(missing)
  message(FATAL_ERROR "Not found:${missing}\n
  Load their modules or give the folders that they are installed in: -DCMAKE_PREFIX_PATH='/one;/another'.
  Those with * are headers only: -DSTEELYARD_FETCH=ON fetches them from GitHub. More: docs/install.md")
endif()

set(kind serial)
if(HDF5_IS_PARALLEL)
  set(kind parallel)
  # Two MPIs in one program crash it, at the first checkpoint: better to say so here.
  set(probe ${PROJECT_BINARY_DIR}/CMakeFiles/hdf5_and_mpi)
  file(WRITE ${probe}.cpp "#include <hdf5.h>\nint main() { return MPI_Init(nullptr, nullptr) + H5open(); }\n")
  try_compile(probe_links ${probe} SOURCES ${probe}.cpp LINK_LIBRARIES steelyard::hdf5 MPI::MPI_CXX COPY_FILE ${probe}.out)
  execute_process(COMMAND ldd ${probe}.out OUTPUT_VARIABLE libraries ERROR_QUIET)
  string(REGEX MATCHALL "libmpi(ch)?\\.so[.0-9]*" of_mpi "${libraries}")
  list(REMOVE_DUPLICATES of_mpi)
  list(LENGTH of_mpi count)
  if(count GREATER 1)
    message(FATAL_ERROR "The parallel HDF5 in ${HDF5_C_INCLUDE_DIRS} was built with another MPI than ${MPI_CXX_COMPILER} "
      "(both would be loaded: ${of_mpi}). Give a serial one, or one of the same MPI: -DHDF5_ROOT=/path. More: docs/install.md")
  endif()
endif()
message(STATUS "MPI: ${MPI_CXX_COMPILER}; HDF5 ${HDF5_VERSION}, ${kind}: ${HDF5_C_INCLUDE_DIRS}")
