# SPDX-License-Identifier: MIT
# Files of an installation beside programs and libraries, and the Debian package (docs/packaging.md). The package has the
# component "program": no static libraries, headers or tests.
set(shared share/steelyard)
set(documents share/doc/steelyard)
install(DIRECTORY inputs DESTINATION ${shared} COMPONENT program)
install(FILES restarts/strip_t1.h5 DESTINATION ${shared}/restarts COMPONENT program)
install(FILES README.md CHANGELOG.md CITATION.cff CODE_OF_CONDUCT.md CONTRIBUTING.md LICENSE DESTINATION ${documents} COMPONENT program)
install(FILES LICENSE DESTINATION ${documents} RENAME copyright COMPONENT program)  # as Debian wants it
install(DIRECTORY docs DESTINATION ${documents} COMPONENT program)
install(FILES packaging/completion.bash DESTINATION share/bash-completion/completions RENAME steelyard COMPONENT program)
# The man pages come from the programs' own help, so they are made at the installation, where the programs run here.
if(NOT CMAKE_CROSSCOMPILING)
  foreach(program steelyard replay_messages)
    install(CODE "if(EXISTS $<TARGET_FILE:${program}>)
      execute_process(COMMAND sh ${PROJECT_SOURCE_DIR}/packaging/man_page.sh $<TARGET_FILE:${program}> ${PROJECT_VERSION}
                      OUTPUT_FILE ${PROJECT_BINARY_DIR}/${program}.1 RESULT_VARIABLE code)
      if(code)
        file(REMOVE ${PROJECT_BINARY_DIR}/${program}.1)
        message(WARNING \"${program} does not run here, so there is no man page of it\")
      endif()
    endif()" COMPONENT program)
    install(FILES ${PROJECT_BINARY_DIR}/${program}.1 DESTINATION share/man/man1 COMPONENT program OPTIONAL)
  endforeach()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The Steelyard developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Molecular-dynamics mini-app to study dynamic load balancing")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Two slabs of particles collide on the ranks of an MPI job. The work
gathers in a small, moving zone. Load models and partitioners balance the
ranks, and their efficiency is measured. The trajectory does not depend on
the number of ranks, bit for bit.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS mpich)  # mpiexec of the MPI that the program is linked with; the library comes by itself
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-h5py, python3-matplotlib, python3-numpy")
include(CPack)
