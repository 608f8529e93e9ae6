# Runs at the end of an installation.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
execute_process(COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${prefix}/${package}" PYTHONDONTWRITEBYTECODE=1
                        ${python} -P -m mutirao.cli.manual "${prefix}/share"
                OUTPUT_VARIABLE made OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" made "${made}")
set(files ${CMAKE_INSTALL_MANIFEST_FILES} ${made})
list(TRANSFORM files REPLACE "^${CMAKE_INSTALL_PREFIX}/" "")
list(APPEND files ${package}/installed-files.txt)
list(JOIN files "\n" files)
file(WRITE "${prefix}/${package}/installed-files.txt" "${files}\n")
