/* The word table as read-only data of the program; static_table.cc reads it. */
    .section .rodata, "a"
    .balign 64
    .globl clawmark_word_table
    .type clawmark_word_table, %object
clawmark_word_table:
    .incbin CLAWMARK_WORD_TABLE
clawmark_word_table_after:
    .size clawmark_word_table, . - clawmark_word_table
    .balign 8
    .globl clawmark_word_table_bytes
    .type clawmark_word_table_bytes, %object
clawmark_word_table_bytes:
    .quad clawmark_word_table_after - clawmark_word_table
    .size clawmark_word_table_bytes, 8
    .section .note.GNU-stack, "", %progbits
