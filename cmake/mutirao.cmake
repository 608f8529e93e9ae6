# Helpers of the build: unit tests, and one library for each binary interface of MPI.

set(mutirao_common_headers <algorithm> <functional> <map> <memory> <optional> <span> <string>
    <vector>)

# What most files include: to read it anew for each takes a third of the time of compiling. All
# libraries are compiled with the same flags, so what the core has compiled serves all.
function(mutirao_precompile_common_headers target)
    if(target STREQUAL "mutirao_core")
        target_precompile_headers(mutirao_core PRIVATE ${mutirao_common_headers})
    else()
        target_precompile_headers(${target} REUSE_FROM mutirao_core)
    endif()
endfunction()

# Half of the time of compiling tests goes into optimising and debug data, for little: what they
# run for long is in the libraries, and failures name their lines without it.
function(mutirao_compile_as_test target)
    target_link_libraries(${target} PRIVATE GTest::gtest)
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1;-g0>)
endfunction()

# The same for all programs of tests, by one that does nothing.
function(mutirao_precompile_test_headers target)
    if(NOT TARGET mutirao_test_headers)
        set(source ${PROJECT_BINARY_DIR}/test_headers.cpp)
        file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
        add_executable(mutirao_test_headers EXCLUDE_FROM_ALL ${source})
        mutirao_compile_as_test(mutirao_test_headers)
        target_precompile_headers(mutirao_test_headers PRIVATE ${mutirao_common_headers}
                                  <gtest/gtest.h>)
    endif()
    target_precompile_headers(${target} REUSE_FROM mutirao_test_headers)
endfunction()

# Compiles each folder of a target as one file, in half of the time: what its files include is read
# once. So names in anonymous namespaces must differ within a folder. Folders that are named go together.
function(mutirao_compile_by_folder target)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")  # others are objects
    foreach(source IN LISTS sources)
        get_filename_component(folder ${source} ABSOLUTE)
        get_filename_component(folder ${folder} DIRECTORY)
        file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
        if(folder IN_LIST ARGN)
            set(folder ${ARGV1})
        endif()
        string(MAKE_C_IDENTIFIER ${folder} group)
        set_source_files_properties(${source} TARGET_DIRECTORY ${target}
                                    PROPERTIES UNITY_GROUP ${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Fills `sources` and `tests` from the present folder and those in it, so that a new file is found by itself:
# NAME_test.cpp is a test, test_NAME.cpp helps tests, anything else is the library's.
macro(mutirao_find_sources_and_tests)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
    set(tests ${sources})
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$|/test_[a-z_]*\\.cpp$")
    list(REMOVE_ITEM sources ${tests})
endmacro()

# Small test programs run one ctest entry per test, so that a failure is named and tests run in
# parallel. The target `unit_tests` is all of them.
add_custom_target(unit_tests)
function(mutirao_add_unit_tests target library)
    find_package(GTest REQUIRED)
    include(GoogleTest)
    add_executable(${target} ${ARGN})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    target_link_libraries(${target} PRIVATE ${library} GTest::gtest_main)
    mutirao_compile_as_test(${target})
    mutirao_precompile_test_headers(${target})
    gtest_discover_tests(${target} TEST_PREFIX ${target}/ DISCOVERY_TIMEOUT 60)
    add_dependencies(unit_tests ${target})
endfunction()

# Asks a compiler wrapper for what it adds, e.g. "-I...;-L...;-lmpi" (Open MPI and MPICH alike).
function(mutirao_ask_wrapper wrapper out_compile out_link)
    execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words)
    set(compile "")
    set(link "")
    foreach(word IN LISTS words)
        if(word MATCHES "^-[ID]")
            string(REGEX REPLACE "^-I" "-isystem" word ${word})
            list(APPEND compile ${word})
        elseif(word MATCHES "^(-L|-l|-Wl|/.*\\.so)")
            list(APPEND link ${word})
        endif()
    endforeach()
    set(${out_compile} ${compile} PARENT_SCOPE)
    set(${out_link} ${link} PARENT_SCOPE)
endfunction()

function(mutirao_compile_with_mpi target compile)
    target_compile_options(${target} PRIVATE ${compile})
    target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX
                               MUTIRAO_VERSION="${PROJECT_VERSION}")
endfunction()

# The name of the binary interface that compiling with these options makes programs of.
function(mutirao_find_abi compile out)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P ${compile}
                            ${PROJECT_SOURCE_DIR}/src/mpi/base/abi_of_headers.h
                    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "mutirao_abi ([a-z0-9 -]+)" found "${text}")
    string(REPLACE " " "" abi "${CMAKE_MATCH_1}")
    set(${out} ${abi} PARENT_SCOPE)
endfunction()

# The library for a binary interface, once. Of several MPI libraries that share it the first is compiled with.
function(mutirao_add_abi abi compile link)
    if(TARGET mutirao-${abi})
        return()
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/*.cpp)
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
    set_property(GLOBAL APPEND PROPERTY MUTIRAO_ABIS ${abi})
    set(objects mutirao-objects-${abi})
    add_library(${objects} OBJECT ${sources})
    mutirao_compile_with_mpi(${objects} "${compile}")
    target_link_libraries(${objects} PRIVATE mutirao_core mutirao_agent mutirao_profile)
    mutirao_precompile_common_headers(${objects})
    # Together, for what most include takes longest.
    mutirao_compile_by_folder(${objects} src/mpi/interpose src/mpi/collectives src/mpi/communicator src/mpi/decide
                              src/mpi/account src/mpi/job src/mpi/executor src/mpi/watch src/mpi/base)
    # By itself: in a large file the compiler soon inlines no more, and each call costs what a program calls often 5 ns.
    set_source_files_properties(src/mpi/interpose/entry_points.cpp TARGET_DIRECTORY ${objects}
                                PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # What src/preload opens. It is linked to no MPI library, but meets the program's own; and to the unwinder that the
    # program has, whose exceptions may pass through.
    add_library(mutirao-${abi} MODULE $<TARGET_OBJECTS:${objects}>)
    target_link_libraries(mutirao-${abi} PRIVATE mutirao_core mutirao_agent mutirao_profile ${CMAKE_DL_LIBS})
    target_link_options(mutirao-${abi} PRIVATE -static-libstdc++ -shared-libgcc -Wl,--exclude-libs,ALL)
    set_target_properties(mutirao-${abi} PROPERTIES PREFIX "" OUTPUT_NAME ${abi}
                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/mutirao)
    if(MUTIRAO_TESTS AND NOT TARGET mpi_test)
        file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/mpi/*_test.cpp)
        mutirao_add_unit_tests(mpi_test mutirao_core ${tests} $<TARGET_OBJECTS:${objects}>)
        mutirao_compile_with_mpi(mpi_test "${compile}")
        mutirao_compile_by_folder(mpi_test src/mpi/account src/mpi/base src/mpi/communicator src/mpi/decide
                                  src/mpi/executor src/mpi/watch)
        target_link_libraries(mpi_test PRIVATE mutirao_agent mutirao_profile ${link} ${CMAKE_DL_LIBS})
    endif()
endfunction()

# For the binary interface of programs that this compiler wrapper makes.
function(mutirao_add_abi_of wrapper out_abi out_compile out_link)
    mutirao_ask_wrapper(${wrapper} compile link)
    mutirao_find_abi("${compile}" abi)
    mutirao_add_abi(${abi} "${compile}" "${link}")
    set(${out_abi} ${abi} PARENT_SCOPE)
    set(${out_compile} ${compile} PARENT_SCOPE)
    set(${out_link} ${link} PARENT_SCOPE)
endfunction()

# NAME=WRAPPER: builds the libraries for that MPI's binary interface, and the bench and test programs into
# build/mpi/NAME, among them that of `mutirao study interfaces`.
function(mutirao_add_mpi spec)
    string(REPLACE "=" ";" parts ${spec})
    list(GET parts 0 name)
    list(GET parts 1 wrapper)
    mutirao_add_abi_of(${wrapper} abi compile link)
    # MPICH 5 brings a second compiler wrapper, for the standard's binary interface.
    get_filename_component(folder ${wrapper} DIRECTORY)
    if(EXISTS ${folder}/mpicc_abi)
        mutirao_add_abi_of(${folder}/mpicc_abi standard_abi standard_compile standard_link)
    endif()

    add_executable(mandelbrot-${name} ${PROJECT_SOURCE_DIR}/bench/mandelbrot/mpi.cpp
                   $<TARGET_OBJECTS:mandelbrot_common>)
    target_link_libraries(mandelbrot-${name} PRIVATE mutirao_tool)
    set(names mandelbrot)
    file(GLOB programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c
         ${PROJECT_SOURCE_DIR}/bench/ping_pong/*.c ${PROJECT_SOURCE_DIR}/tests/mpi/*.c)
    foreach(program IN LISTS programs)
        get_filename_component(base ${program} NAME_WE)
        add_executable(${base}-${name} ${program})
        list(APPEND names ${base})
    endforeach()
    foreach(base IN LISTS names)
        target_compile_options(${base}-${name} PRIVATE ${compile})
        target_link_libraries(${base}-${name} PRIVATE ${link} m ${CMAKE_DL_LIBS})
        set_target_properties(${base}-${name} PROPERTIES OUTPUT_NAME ${base}
                              RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/mpi/${name})
    endforeach()

    # What `make demo` runs: no unit tests, and one MPI only, the first.
    if(NOT TARGET demo)
        add_custom_target(demo)
        add_dependencies(demo mutirao-core mutirao-mpi-library mutirao-lab-router mutirao-lab-agent
                         mutirao-calm mutirao mutirao-${abi} collective-${name})
    endif()
endfunction()
