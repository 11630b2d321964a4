#pragma once
// Which messages of a session lie off its active path, from parents and leaf entries in file order.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sources/source.h"

namespace clawmark {

// The host's rule: each entry extends the branch at its parent and becomes the tip; a leaf entry
// moves the tip to its target. An entry without a parent (the carrier gave none, or null) continues
// at the tip, unless a leaf entry moved it to the root just before: files of old versions, trimmed
// ones and imports hold such rows in the middle of a running conversation.
class ActivePath {
 public:
  void add(std::string_view id, std::string_view parent, bool is_message);
  void add_leaf(std::string_view id, std::string_view target);
  // Does an entry with this parent simply extend the tip?
  static bool extends(std::string_view tip, std::string_view parent) {
    return parent.empty() || parent == tip;
  }
  // Entry ids of messages off the path, in order. Entries before one whose parent is unknown
  // (trimmed away, unreadable) count as its ancestors.
  std::vector<std::string> inactive() const;

 private:
  static constexpr int kRoot = -1;
  struct Node {
    std::string id;
    int parent;
    bool is_message;
  };
  int find(std::string_view id) const;

  std::vector<Node> nodes_;
  std::unordered_map<std::string, int> by_id_;
  int tip_ = kRoot;
  bool at_root_ = false;  // a leaf entry moved the tip to the root
};

}  // namespace clawmark
