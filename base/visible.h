#pragma once
// What shows nothing where it stands, and so can hide what a reader does not see.

namespace clawmark {

// Control and format characters and what Unicode lets a renderer ignore (zero width, direction,
// tags); not the joiners and variation selectors that emoji and several scripts are made of.
bool is_invisible(char32_t c);

}  // namespace clawmark
