#include "sources/active_path.h"

namespace clawmark {

int ActivePath::find(std::string_view id) const {
  const auto found = by_id_.find(std::string(id));
  return found == by_id_.end() ? kRoot : found->second;
}

void ActivePath::add(std::string_view id, std::string_view parent, bool is_message) {
  int above = tip_;
  if (!parent.empty()) {
    const int named = find(parent);
    if (named != kRoot) above = named;  // unknown parent: goes on at the tip
  }
  if (at_root_ && parent.empty()) above = kRoot;
  at_root_ = false;
  const int at = static_cast<int>(nodes_.size());
  nodes_.push_back({std::string(id), above, is_message});
  if (!id.empty()) by_id_[std::string(id)] = at;
  tip_ = at;
}

void ActivePath::add_leaf(std::string_view id, std::string_view target) {
  const int named = find(target);
  if (named != kRoot || target.empty()) {
    tip_ = named;
    at_root_ = target.empty();
  }
  if (!id.empty())
    by_id_[std::string(id)] = tip_;  // a child of the leaf row goes on where it points
}

std::vector<std::string> ActivePath::inactive() const {
  std::vector<bool> active(nodes_.size(), false);
  for (int at = tip_; at != kRoot; at = nodes_[static_cast<std::size_t>(at)].parent) {
    active[static_cast<std::size_t>(at)] = true;
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!active[i] && nodes_[i].is_message && !nodes_[i].id.empty()) out.push_back(nodes_[i].id);
  }
  return out;
}

}  // namespace clawmark
