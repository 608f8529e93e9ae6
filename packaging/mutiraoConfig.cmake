# find_package(mutirao): the command as mutirao::mutirao, and what is preloaded as mutirao::preload.
get_filename_component(mutirao_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET mutirao::mutirao)
    add_executable(mutirao::mutirao IMPORTED)
    set_target_properties(mutirao::mutirao PROPERTIES IMPORTED_LOCATION "${mutirao_PREFIX}/bin/mutirao")
    add_library(mutirao::preload MODULE IMPORTED)
    set_target_properties(mutirao::preload PROPERTIES
                          IMPORTED_LOCATION "${mutirao_PREFIX}/lib/libmutirao.so")
endif()
