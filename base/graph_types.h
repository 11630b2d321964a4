#pragma once
// The closed lists of the world model: what an extractor may name, and what a fold lets in.

#include <algorithm>
#include <array>
#include <string_view>

namespace clawmark {

inline constexpr std::array<std::string_view, 8> kNodeTypes = {
    "project", "component", "decision", "task", "person", "constraint", "concept", "file"};
inline constexpr std::array<std::string_view, 13> kEdgeTypes = {
    "DECIDED_BY", "DEPENDS_ON",  "AFFECTS",  "IMPLEMENTS", "CREATED", "COMPLETED",  "BLOCKED_BY",
    "REFERENCES", "CONTRADICTS", "SUPPORTS", "SUPERSEDES", "PART_OF", "ASSIGNED_TO"};
inline constexpr std::array<std::string_view, 6> kEpisodeTypes = {
    "decision", "plan_change", "blocker", "breakthrough", "completion", "error"};

template <class List>
bool holds(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace clawmark
