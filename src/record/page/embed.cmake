# Write a C file with the parts of the report page as byte arrays:
#     cmake -D FOLDER=src/record -D OUTPUT=page.c -P embed.cmake
# Bytes and not strings: a string literal may be limited to 4095 characters.

set(record_page_html report.html)
set(record_page_css report.css)
set(record_page_js report_data.js report_chart.js report_stage.js report.js)

set(text "/* Made by src/record/page/embed.cmake from the files report*. */\n#include \"record/page/page.h\"\n")
foreach(name record_page_html record_page_css record_page_js)
  set(bytes "")
  foreach(part IN LISTS ${name})
    file(READ ${FOLDER}/${part} hex HEX)
    string(APPEND bytes ${hex})
  endforeach()
  string(REGEX REPLACE "(................................)" "\\1\n" bytes ${bytes})
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes ${bytes})
  string(APPEND text "\nconst unsigned char ${name}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
