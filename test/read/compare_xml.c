/* XML texts from the standard input, each with its length before it (8 digits): of each the tree
 * that xml_read makes, in one line, or where it is refused. test/read/compare_xml.py compares with
 * expat. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/file/xml.h"

static void print_text(const char *text)
{
    putchar('"');
    for (; *text != 0; text++) {
        printf("%02x", (unsigned)(unsigned char)*text);
    }
    putchar('"');
}

static void print_tree(const xml_tree *tree)
{
    for (int i = 0; i < tree->count; i++) {
        const xml_element *e = &tree->element[i];
        printf("%d %d %d %d ", e->parent, e->line, e->column, e->has_text);
        print_text(e->name);
        for (int k = 0; k < e->attribute_count; k++) {
            print_text(tree->attribute[e->attribute + k].name);
            print_text(tree->attribute[e->attribute + k].value);
        }
        putchar(';');
    }
}

int main(void)
{
    char digits[9] = {0};
    while (fread(digits, 1, 8, stdin) == 8) {
        size_t length = strtoul(digits, NULL, 10);
        char *text = malloc(length + 1);
        if (text == NULL || fread(text, 1, length, stdin) != length) {
            return 1;
        }
        zw_error error;
        xml_tree tree = {.model = model_create(), .error = &error};
        model_file *file = model_add_file(tree.model);
        file->name = model_text_copy("t.xml", 5);
        file->text = model_text_copy(text, length);
        if (xml_read(&tree, 0) >= 0) {
            print_tree(&tree);
        } else {
            printf("refused %d:%d %.*s", error.line, error.column, (int)strcspn(error.text, "\n"),
                   error.text);
        }
        putchar('\n');
        zw_model_free(tree.model);
        xml_free(&tree);
        free(text);
    }
    return 0;
}
