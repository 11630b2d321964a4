#include "projections/graph_settle.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace clawmark {
namespace {

constexpr std::int64_t kEpisodeToldAgainMs = 12 * 3'600'000;

// By when it was said; what was said at the same instant by its content, never by its place in the
// log.
template <class Claim>
auto order_of(const Claim& claim) {
  return std::tie(claim.said.value, claim.entry_id, claim.quote);
}

int rank_of(const std::string& status) {
  if (status == "done") return 4;
  if (status == "cancelled") return 3;
  if (status == "blocked") return 2;
  if (status == "active") return 1;
  return 0;
}

bool take_newest(std::string& into, const std::string& said) {
  if (!said.empty()) into = said;
  return !said.empty();
}

}  // namespace

std::optional<NodeState> settle_node(std::vector<NodeClaim> claims) {
  if (claims.empty()) return std::nullopt;
  std::sort(claims.begin(), claims.end(), [](const NodeClaim& a, const NodeClaim& b) {
    const auto more = [](const NodeClaim& c) {
      return std::make_tuple(rank_of(c.status), c.name, c.description, c.slot, c.choice, c.reason);
    };
    return std::make_tuple(order_of(a), more(a)) < std::make_tuple(order_of(b), more(b));
  });
  NodeState state;
  state.first = claims.front().said;
  std::set<std::string> aliases;
  for (const NodeClaim& claim : claims) {
    state.last = claim.said;
    state.message = claim.message;
    state.quote = claim.quote;
    ++state.mentions;
    if (!claim.status.empty()) {
      state.status = claim.status;
      state.status_at = claim.said;
    }
    // Also where only its status was spoken of: those are the newest words about it.
    if (take_newest(state.description, claim.description)) {
      state.description_message = claim.message;
    }
    if (claim.only_status) {
      if (state.name.empty()) state.name = claim.name;
      continue;
    }
    state.visible = true;
    take_newest(state.name, claim.name);
    if (take_newest(state.reason, claim.reason)) state.reason_message = claim.message;
    take_newest(state.slot, claim.slot);
    take_newest(state.choice, claim.choice_name);
    take_newest(state.replaces, claim.replaces);
    aliases.insert(claim.aliases.begin(), claim.aliases.end());
    state.confidence = std::max(state.confidence, claim.confidence);
    state.stated = state.stated || claim.stated;
    if (claim.due) state.due = claim.due;
  }
  aliases.erase(state.name);
  state.aliases.assign(aliases.begin(), aliases.end());
  return state;
}

std::map<std::string, SlotState> settle_slots(std::vector<NodeClaim> claims) {
  std::sort(claims.begin(), claims.end(), [](const NodeClaim& a, const NodeClaim& b) {
    return std::make_tuple(order_of(a), a.key) < std::make_tuple(order_of(b), b.key);
  });
  std::map<std::string, SlotState> out;
  std::map<std::string, std::string> choices;
  for (const NodeClaim& claim : claims) {
    const auto [found, fresh] = out.emplace(claim.key, SlotState{claim.said, {}, "", claim.slot});
    SlotState& mine = found->second;
    if (!fresh && mine.to) mine = {claim.said, {}, "", claim.slot.empty() ? mine.slot : claim.slot};
    if (!claim.slot.empty()) mine.slot = claim.slot;
    choices[claim.key] = claim.choice;
    const auto ends = [&](const std::string& key, const SlotState& other) {
      if (key == claim.key || other.to) return false;
      const bool replaced = !claim.replaces.empty() && choices[key] == claim.replaces;
      const bool same = !mine.slot.empty() && other.slot == mine.slot &&
                        (claim.choice.empty() || choices[key] != claim.choice);
      return replaced || same;
    };
    // What it replaces first: with that comes what is settled, and with that the others.
    for (const bool by_name : {true, false}) {
      for (auto& [key, other] : out) {
        const bool named = !claim.replaces.empty() && choices[key] == claim.replaces;
        if (named != by_name || !ends(key, other)) continue;
        if (mine.slot.empty()) mine.slot = other.slot;
        other.to = claim.said;
        other.superseded_by = claim.key;
      }
    }
  }
  return out;
}

std::vector<EdgeInterval> settle_edges(std::vector<EdgeClaim> claims, bool single) {
  struct Step {
    TimeMs at;
    bool closes;
    const EdgeClaim* claim;
  };
  std::vector<Step> steps;
  for (const EdgeClaim& claim : claims) {
    steps.push_back({claim.at, claim.closes, &claim});
    if (!claim.closes && claim.until) steps.push_back({*claim.until, true, &claim});
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::make_tuple(a.at.value, !a.closes, order_of(*a.claim), a.claim->to_type,
                           a.claim->to) < std::make_tuple(b.at.value, !b.closes, order_of(*b.claim),
                                                          b.claim->to_type, b.claim->to);
  });
  std::vector<EdgeInterval> out;
  const auto open_one = [&](const EdgeClaim& claim) -> EdgeInterval* {
    for (auto& interval : out) {
      if (!interval.until && interval.to_type == claim.to_type && interval.to == claim.to) {
        return &interval;
      }
    }
    return nullptr;
  };
  for (const Step& step : steps) {
    EdgeInterval* open = open_one(*step.claim);
    if (step.closes) {
      if (open != nullptr) {
        open->until = step.at;
        open->until_event = step.claim->event;
      }
      continue;
    }
    if (single) {
      for (auto& interval : out) {
        if (&interval == open || interval.until) continue;
        interval.until = step.at;
        interval.until_event = step.claim->event;
      }
    }
    if (open == nullptr) {
      open = &out.emplace_back();
      open->to_type = step.claim->to_type;
      open->to = step.claim->to;
      open->from = step.at;
      open->event = step.claim->event;
    }
    open->event = std::min(open->event, step.claim->event);
    open->confidence = std::max(open->confidence, step.claim->confidence);
    if (step.claim->said >= open->last) {
      open->last = step.claim->said;
      open->message = step.claim->message;
      open->quote = step.claim->quote;
    }
  }
  std::sort(out.begin(), out.end(), [](const EdgeInterval& a, const EdgeInterval& b) {
    return std::tie(a.from.value, a.to_type, a.to) < std::tie(b.from.value, b.to_type, b.to);
  });
  return out;
}

std::vector<EpisodeState> settle_episodes(std::vector<EpisodeClaim> claims) {
  std::sort(claims.begin(), claims.end(), [](const EpisodeClaim& a, const EpisodeClaim& b) {
    return std::tie(a.said.value, a.entry_id, a.body, a.quote) <
           std::tie(b.said.value, b.entry_id, b.body, b.quote);
  });
  std::vector<EpisodeState> episodes;
  for (EpisodeClaim& claim : claims) {
    if (episodes.empty() || claim.said.value - episodes.back().last.value > kEpisodeToldAgainMs) {
      EpisodeState& fresh = episodes.emplace_back();
      fresh.title = claim.title;
      fresh.description = claim.description;
      fresh.occurred = claim.said;  // it happened when it was told first
      fresh.message = claim.message;
      fresh.quote = claim.quote;
      fresh.event = claim.event;
    }
    EpisodeState& episode = episodes.back();
    episode.last = claim.said;
    episode.event = std::min(episode.event, claim.event);
    episode.salience = std::max(episode.salience, claim.salience);
    episode.nodes.insert(claim.nodes.begin(), claim.nodes.end());
  }
  return episodes;
}

bool is_single_valued(const std::string& type, const std::string& from_type,
                      const std::string& slot) {
  return !slot.empty() || type == "PART_OF" || (type == "ASSIGNED_TO" && from_type == "task");
}

}  // namespace clawmark
