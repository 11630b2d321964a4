#include "base/visible.h"

#include <unicode/uchar.h>

namespace clawmark {

bool is_invisible(char32_t c) {
  if (c >= 0x20 && c < 0x7F) return false;
  if (c == 0x200C || c == 0x200D) return false;  // joiners: part of emoji and of several scripts
  if (c >= 0xFE00 && c <= 0xFE0F) return false;  // variation selectors
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_DEFAULT_IGNORABLE_CODE_POINT) ||
         u_charType(static_cast<UChar32>(c)) == U_CONTROL_CHAR ||
         u_charType(static_cast<UChar32>(c)) == U_FORMAT_CHAR;
}

}  // namespace clawmark
