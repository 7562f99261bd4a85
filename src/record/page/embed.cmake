# Write a C file with the parts of the report page as byte arrays:
#     cmake -D FOLDER=src/record/page -D BUNDLE=build/report -D OUTPUT=page.c -P embed.cmake
# BUNDLE is what tools/build-report makes of web/; where it is not there, reports are plain.
# Bytes and not strings: a string literal may be limited to 4095 characters.

if(EXISTS ${BUNDLE}/report.js AND EXISTS ${BUNDLE}/space.js AND EXISTS ${BUNDLE}/report.css)
  set(record_page_css ${BUNDLE}/report.css ${FOLDER}/paper.css)
  set(record_page_js ${BUNDLE}/report.js)
  set(record_page_space ${BUNDLE}/space.js)
else()
  set(record_page_css ${FOLDER}/plain.css ${FOLDER}/paper.css)
  set(record_page_js "")
  set(record_page_space "")
endif()
set(record_page_html ${FOLDER}/report.html)

file(WRITE ${OUTPUT} "/* Made by src/record/page/embed.cmake. */\n#include \"record/page/page.h\"\n")
foreach(name record_page_html record_page_css record_page_js record_page_space)
  file(APPEND ${OUTPUT} "\nconst unsigned char ${name}[] = {\n")
  foreach(part IN LISTS ${name})
    file(READ ${part} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
    file(APPEND ${OUTPUT} "${bytes}\n")
  endforeach()
  file(APPEND ${OUTPUT} "0};\n")
endforeach()
