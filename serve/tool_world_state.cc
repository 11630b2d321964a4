// "Where we left off" in a few lines: for restore, and for the first prompt of a new session.

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "serve/tool_world.h"

namespace clawmark {
namespace {

constexpr std::size_t kTellings = 20;  // of one episode that are looked through

}  // namespace

Result<std::vector<StateLine>> left_off(Database& db, const GraphScope& scope, std::size_t limit) {
  std::vector<StateLine> lines;
  CLAWMARK_ASSIGN(const auto written, graph_texts(db, scope, "state", 1));
  EpisodeQuery query;
  query.limit = limit * kTellings;
  CLAWMARK_ASSIGN(const auto newest, list_episodes(db, scope, query));
  // The paragraph that a model wrote last, unless more was said since; else what was said last.
  if (!written.empty() && (newest.empty() || newest[0].occurred <= written[0].said)) {
    lines.push_back({written[0].text, written[0].said, written[0].message, true});
    return lines;
  }
  // What was told again later is one line, its newest.
  std::set<std::string> told;
  for (const auto& episode : newest) {
    if (lines.size() >= limit) break;
    if (!told.insert(collapse_space(fold_case(episode.title))).second) continue;
    lines.push_back({episode.title, episode.occurred, episode.message});
  }
  return lines;
}

Result<std::vector<StateLine>> state_lines(Database& db, const GraphScope& scope,
                                           std::size_t limit) {
  CLAWMARK_ASSIGN(auto lines, left_off(db, scope, (limit + 1) / 2));
  for (const char* status : {"blocked", "active"}) {
    NodeQuery query;
    query.type = "task";
    query.statuses = {status};
    query.limit = limit;
    CLAWMARK_ASSIGN(const auto tasks, list_nodes(db, scope, query));
    for (const auto& task : tasks) {
      if (lines.size() >= limit) return lines;
      lines.push_back({"task " + task.name + " is " + status, task.last, task.message});
    }
  }
  return lines;
}

GraphScope scope_of(const Sight& sight, TimeMs now) {
  GraphScope scope;
  scope.agent = sight.scope.agent;
  scope.holders = sight.holders;
  for (const auto& audience : sight.audiences) {
    if (std::find(scope.holders.begin(), scope.holders.end(), audience) == scope.holders.end()) {
      scope.holders.push_back(audience);
    }
  }
  scope.now = now;
  return scope;
}

}  // namespace clawmark
