#pragma once
// The keys that a model made up, mapped to legal ones by a fixed rule.

#include <optional>
#include <string>
#include <string_view>

namespace clawmark {

// 1. ASCII letters in lower case; "camelCase", blanks, '-' and '/' become '_', ':' becomes '.';
// runs of these are one.
// 2. A first segment that only spells a prefix otherwise is put right: preference(s), prefs → pref;
// users, profile →
//    user; projects → project; lessons → lesson.
// 3. A key under pref., user., project. or lesson. stays. A single segment goes under pref. when it
// names a taste or a
//    tool of daily use (editor, shell, theme, drink, …), under project. when it names a part of the
//    work (repo, database, port, deadline, …), else under user.; several segments go under project.
// nullopt: nothing legal comes out (other letters than ASCII, too long, empty). The rule is
// documented for users in docs/decisions/extraction.md; two different keys that meet in one are
// never merged (see unique_keys there).
std::optional<std::string> normal_fact_key(std::string_view key);

// A legal last segment from words of a person, "Spicy food" → "spicy_food"; letters beyond ASCII
// are spelt as their code point ("u98df"), so that different words never share a key. Empty: no
// letter or digit in it.
std::string key_segment(std::string_view words);

// Whom a fact is about, said by `sender` under `holder`: in a group that person when the key is
// about a person (pref., user.); of the common work (project., lesson.) nobody, so that what one
// member says replaces what another said before. Elsewhere the holder says it: empty.
std::string fact_subject(std::string_view key, std::string_view holder, std::string_view sender);

}  // namespace clawmark
