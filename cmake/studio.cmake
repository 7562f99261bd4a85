# The studio's engine (web/engine) for this machine: its tests, and what WebAssembly is compared with.
file(GLOB sources CONFIGURE_DEPENDS web/engine/*.c)
add_library(studio_engine STATIC ${sources})
target_include_directories(studio_engine PUBLIC web/engine)
target_link_libraries(studio_engine PUBLIC zwang)
if(TARGET test_web_engine)
  target_link_libraries(test_web_engine PRIVATE studio_engine)
endif()
zw_program(test_web_hashes ${CMAKE_SOURCE_DIR}/test/web/hashes.c)
target_link_libraries(test_web_hashes PRIVATE studio_engine)

# The same bits in WebAssembly, and the pages in a browser; tools/build-wasm and tools/build-studio come before them.
if(ZW_NODE AND NOT ZW_SANITIZE)
  zw_test(web/size wasm ${ZW_NODE} ${CMAKE_SOURCE_DIR}/test/web/size.mjs)
  zw_test(web/memory wasm ${ZW_NODE} ${CMAKE_SOURCE_DIR}/test/web/memory.mjs)
  zw_test(web/bits wasm ${ZW_NODE} ${CMAKE_SOURCE_DIR}/test/web/bits.mjs $<TARGET_FILE:test_web_hashes>)
  zw_test(web/pages wasm ${ZW_NODE} ${CMAKE_SOURCE_DIR}/test/web/pages.mjs $<TARGET_FILE:test_web_hashes> $<TARGET_FILE:zwang_cli>)
endif()
