#pragma once
// What the built-in graph rules read in one message, as lines to compare.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/graph.h"

namespace clawmark::testing {

constexpr TimeMs kSaid{1'794'819'600'000};  // 2026-11-16T09:00:00Z

inline GraphAnswer graph_of(const std::string& text, const std::string& speaker = "Ada Byron",
                            const std::string& role = "user") {
  WindowMessage message;
  message.message = 7;
  message.role = role;
  message.sender = "telegram:1";
  message.speaker = speaker;
  message.text = text;
  message.at = kSaid;
  auto answer = make_builtin_graph_extractor()->extract_local({&message, 1}, "UTC");
  EXPECT_TRUE(answer.ok());
  for (const auto& node : answer->nodes) {
    EXPECT_TRUE(node.verified);
    EXPECT_NE(text.find(node.evidence.at(0).quote), std::string::npos) << node.evidence[0].quote;
  }
  return std::move(answer).value();
}

// "name (slot = choice, replaces X)" of each thing of a type.
inline std::vector<std::string> things_of(const std::string& type, const std::string& text) {
  std::vector<std::string> out;
  for (const auto& node : graph_of(text).nodes) {
    if (node.type != type || (type == "person" && node.name == "Ada Byron")) continue;
    std::string line = node.name;
    if (!node.status.empty()) line += " [" + node.status + (node.only_status ? "?" : "") + "]";
    if (!node.slot.empty()) line += " | " + node.slot + " = " + node.choice;
    if (!node.replaces.empty()) line += " | replaces " + node.replaces;
    if (node.stated) line += " stated";
    out.push_back(line);
  }
  return out;
}

// "from TYPE to", with the slot and whether it ended.
inline std::vector<std::string> relations_of(const std::string& type, const std::string& text) {
  std::vector<std::string> out;
  for (const auto& edge : graph_of(text).edges) {
    if (edge.type != type) continue;
    std::string line = edge.from_type + " " + edge.from + " > " + edge.to_type + " " + edge.to;
    if (!edge.slot.empty()) line += " | " + edge.slot;
    if (edge.closes) line += " ended";
    out.push_back(line);
  }
  return out;
}

inline std::vector<std::string> episodes_of(const std::string& text) {
  std::vector<std::string> out;
  for (const auto& episode : graph_of(text).episodes) {
    out.push_back(episode.type + ": " + episode.title);
  }
  return out;
}

}  // namespace clawmark::testing
