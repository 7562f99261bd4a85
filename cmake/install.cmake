# What `make install` puts where: libraries, headers, files by which pkg-config and CMake find them, the
# program with its manual page and completion, documents and examples.
include(CMakePackageConfigHelpers)

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/zwang)
install(TARGETS ${zwang_libraries} EXPORT zwangTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/zwang DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT zwangTargets NAMESPACE zwang:: DESTINATION ${config})
configure_file(cmake/zwangConfig.cmake.in zwangConfig.cmake @ONLY)
write_basic_package_version_file(zwangConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/zwangConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/zwangConfigVersion.cmake
        DESTINATION ${config})

# The libraries that the static library needs: as -lname where they are in a usual place.
set(zwang_private "")
foreach(need IN LISTS zwang_needs)
  if(need MATCHES "^(/usr)?/lib(/[^/]*-linux-[^/]*)?/lib([^/]+)\\.(so|a)$")
    string(APPEND zwang_private " -l${CMAKE_MATCH_3}")
  elseif(need MATCHES "^/")
    string(APPEND zwang_private " ${need}")
  else()
    string(APPEND zwang_private " -l${need}")
  endif()
endforeach()
string(STRIP "${zwang_private}" zwang_private)
file(RELATIVE_PATH zwang_up /any/${CMAKE_INSTALL_LIBDIR}/pkgconfig /any) # it may be moved, or another prefix be given
configure_file(cmake/zwang.pc.in zwang.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/zwang.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(PROJECT_IS_TOP_LEVEL)
  install(FILES cli/zwang.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES cli/zwang.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
  install(FILES cli/zwang.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME zwang)
  install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
  # The studio's pages, where tools/build-studio has made them: zwang view serves them.
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/build/studio DESTINATION ${CMAKE_INSTALL_DATADIR}/zwang OPTIONAL)
endif()
