// Compiled only for the header that goes before it.
