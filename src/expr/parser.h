/* Tokens to syntax trees, by precedence climbing.
 *
 *     or | and | not | < <= > >= == != | + - | * / . x | unary - | ^ | ' .x [i] f()
 *
 * A chain of operators of equal rank is one node with many children, so only nested brackets
 * increase the height of a tree, and their depth is limited: traversals of a tree may recurse. */
#ifndef ZW_EXPR_PARSER_H
#define ZW_EXPR_PARSER_H

#include "expr/lexer.h"

enum { EXPR_MOST_NESTED = 200, EXPR_MOST_PRIMES = 8 };

typedef enum expr_tree_kind {
    EXPR_TREE_NUMBER,
    EXPR_TREE_NAME,
    EXPR_TREE_INDEX,  /* symbol[children] */
    EXPR_TREE_FIELD,  /* child.symbol */
    EXPR_TREE_PRIME,  /* child with `count` primes */
    EXPR_TREE_CALL,   /* function(children for ranges); function -1: the symbol is not a function */
    EXPR_TREE_VECTOR, /* two children or more */
    EXPR_TREE_NORM,
    EXPR_TREE_MINUS,
    EXPR_TREE_NOT,
    EXPR_TREE_POWER,   /* two children */
    EXPR_TREE_SUM,     /* chain of + - */
    EXPR_TREE_PRODUCT, /* chain of * / dot cross */
    EXPR_TREE_COMPARE, /* two children */
    EXPR_TREE_AND,
    EXPR_TREE_OR
} expr_tree_kind;

/* The operator before a child of a chain. */
typedef enum expr_joint {
    EXPR_JOINT_NONE,
    EXPR_JOINT_PLUS,
    EXPR_JOINT_MINUS,
    EXPR_JOINT_TIMES,
    EXPR_JOINT_OVER,
    EXPR_JOINT_DOT,
    EXPR_JOINT_CROSS,
    EXPR_JOINT_LESS,
    EXPR_JOINT_LESS_EQUAL,
    EXPR_JOINT_GREATER,
    EXPR_JOINT_GREATER_EQUAL,
    EXPR_JOINT_EQUAL,
    EXPR_JOINT_NOT_EQUAL,
    EXPR_JOINT_AND,
    EXPR_JOINT_OR
} expr_joint;

typedef struct expr_tree {
    unsigned char kind;  /* expr_tree_kind */
    unsigned char joint; /* expr_joint: operator before this child */
    int token;           /* its name, number, operator or bracket */
    int joint_token;
    int from, to;    /* first token, and the one after the last */
    int first, next; /* child, sibling; -1: none */
    int count;       /* children; primes */
    int symbol;
    int function;
    int range, range_count; /* CALL */
    double number;
} expr_tree;

/* for symbol in from..to */
typedef struct expr_range {
    int token;
    int symbol;
    int from, to; /* trees */
} expr_range;

typedef struct expr_trees { /* start from {0} */
    int count;
    int capacity;
    expr_tree *tree;
    int range_count;
    int range_capacity;
    expr_range *range;
} expr_trees;

void expr_trees_free(expr_trees *trees);

typedef struct expr_parser {
    const expr_token *token; /* of all texts; not reallocated during parsing */
    int next;                /* the token to be read */
    expr_trees *trees;
    int nested;
    expr_fault *fault;
} expr_parser;

/* Parses an expression from the next token on; parser->next is then the first token after it. -1:
 * see the fault. */
int expr_parse(expr_parser *parser);

/* A name, perhaps with [index, ...], fields and primes: what a statement may define or set. */
int expr_parse_target(expr_parser *parser);

/* `for i in a..b, j in c..d` if the next token is `for`: returns the number of ranges and sets the
 * first; -1: see the fault. */
int expr_parse_ranges(expr_parser *parser, int *first);

/* Is the next token this word? */
int expr_parser_at_word(const expr_parser *parser, const char *word);

#endif
