#include "serve/sharing.h"

#include <algorithm>

#include "base/utf8.h"
#include "projections/overview.h"

namespace clawmark {
namespace {

bool holds(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

void open_session(Sight& sight, const std::string& session_key) {
  const Lane lane = parse_session_key(session_key).lane;
  if (lane != Lane::kDirect && lane != Lane::kGroup) return;
  const auto there = sight_as(sight.scope.agent, session_key);
  if (!there.ok()) return;
  for (const std::string& audience : there->audiences) {
    if (holds(sight.audiences, audience)) continue;
    sight.audiences.push_back(audience);
    sight.holders.push_back(audience);
    sight.shared.push_back(audience);
  }
}

}  // namespace

void open_shares(Sight& sight, const Config& config, Database& db) {
  if (!sight.open() || config.share_sessions.empty()) return;
  std::vector<std::string_view> from;
  for (const std::string& rule : config.share_sessions) {
    const auto sign = rule.find(" > ");
    if (sign == std::string::npos) continue;
    if (glob_match(trim(std::string_view(rule).substr(sign + 3)), sight.scope.session_key)) {
      from.push_back(trim(std::string_view(rule).substr(0, sign)));
    }
  }
  if (from.empty()) return;
  const auto keys = list_session_keys(db, sight.scope.agent);
  if (!keys.ok()) return;
  for (const std::string& key : *keys) {
    const bool given = std::any_of(from.begin(), from.end(),
                                   [&](std::string_view glob) { return glob_match(glob, key); });
    if (given) open_session(sight, key);
  }
}

void drop_shares(Sight& sight) {
  const auto is_shared = [&](const std::string& name) { return holds(sight.shared, name); };
  std::erase_if(sight.audiences, is_shared);
  std::erase_if(sight.holders, is_shared);
  sight.shared.clear();
}

Sight configured_sight(const Caller& caller, const Config& config, Database& db) {
  Sight sight = sight_of(caller, config.inject_sessions, db);
  open_shares(sight, config, db);
  return sight;
}

}  // namespace clawmark
