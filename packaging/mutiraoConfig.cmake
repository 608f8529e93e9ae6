# find_package(mutirao): the command as mutirao::mutirao, and what is preloaded as mutirao::preload and, for
# Python programs on an MPI library without large counts, mutirao::preload_mpi3.
get_filename_component(mutirao_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET mutirao::mutirao)
    add_executable(mutirao::mutirao IMPORTED)
    set_target_properties(mutirao::mutirao PROPERTIES IMPORTED_LOCATION "${mutirao_PREFIX}/bin/mutirao")
    foreach(name preload preload_mpi3)
        add_library(mutirao::${name} MODULE IMPORTED)
    endforeach()
    set_target_properties(mutirao::preload PROPERTIES
                          IMPORTED_LOCATION "${mutirao_PREFIX}/lib/libmutirao.so")
    set_target_properties(mutirao::preload_mpi3 PROPERTIES
                          IMPORTED_LOCATION "${mutirao_PREFIX}/lib/libmutirao-mpi3.so")
endif()
