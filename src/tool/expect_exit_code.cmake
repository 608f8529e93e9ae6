# Runs PROGRAM with ARGUMENTS: it must end with exit code EXPECTED, say one line on stderr and
# nothing on stdout.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS}
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE error)
if(NOT code STREQUAL EXPECTED)
    message(FATAL_ERROR "exit code ${code} instead of ${EXPECTED}: ${error}")
endif()
if(NOT output STREQUAL "" OR NOT error MATCHES "^mutirao-core: [^\n]+\n$")
    message(FATAL_ERROR "not one line on stderr alone: '${output}' '${error}'")
endif()
