# The extension of the Python package, and the package whole in <build>/python. It is on Python's stable
# ABI (3.11 and later), and has the library inside.
set(ZW_PYTHON "" CACHE STRING "The Python package: empty (where Python's headers are), OFF, or REQUIRED")
if(ZW_PYTHON STREQUAL "OFF" OR ZW_FUZZ OR ZW_SANITIZE MATCHES "thread")
  return()
endif()

# Debian's own Python comes first: that is where Debian's NumPy is.
find_program(ZW_PYTHON3 NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(ZW_PYTHON3 NAMES python3)
mark_as_advanced(ZW_PYTHON3)
set(python_include "")
if(ZW_PYTHON3)
  execute_process(COMMAND ${ZW_PYTHON3} -c "import sys, sysconfig; print(sysconfig.get_path('include') if sys.version_info >= (3, 11) else '')"
                  OUTPUT_VARIABLE python_include OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT python_include OR NOT EXISTS "${python_include}/Python.h")
  if(ZW_PYTHON STREQUAL "REQUIRED")
    message(FATAL_ERROR "Python's headers (3.11 or later) are missing (Debian: python3-dev)")
  endif()
  message(STATUS "Python's headers (3.11 or later): missing; no Python package (Debian: python3-dev)")
  return()
endif()
message(STATUS "Python, for the package zwang: found (${python_include})")

file(GLOB sources CONFIGURE_DEPENDS python/src/*.c)
add_library(zwang_python MODULE ${sources})
target_include_directories(zwang_python SYSTEM PRIVATE ${python_include})
target_compile_definitions(zwang_python PRIVATE Py_LIMITED_API=0x030b0000)
target_compile_options(zwang_python PRIVATE -Wno-missing-field-initializers)
set_target_properties(zwang_python PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME _core.abi3.so C_VISIBILITY_PRESET hidden
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/zwang)
target_link_libraries(zwang_python PRIVATE zwang)
file(GLOB modules CONFIGURE_DEPENDS python/zwang/*.py python/zwang/*.pyi python/zwang/py.typed)
add_custom_command(TARGET zwang_python POST_BUILD
                   COMMAND ${CMAKE_COMMAND} -E copy_if_different ${modules} ${CMAKE_BINARY_DIR}/python/zwang VERBATIM)
set_property(TARGET zwang_python APPEND PROPERTY LINK_DEPENDS ${modules})
