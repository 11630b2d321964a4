#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/limits_world.h"
#include "base/utf8.h"
#include "projections/graph.h"
#include "projections/graph_blocked.h"
#include "projections/graph_fold.h"
#include "projections/graph_names.h"
#include "projections/graph_rows.h"
#include "projections/graph_settle.h"
#include "projections/graph_then.h"

namespace clawmark {
namespace {

constexpr char kNodeColumns[] =
    "n.type, n.key, n.visible, n.name, n.description, n.status, n.status_ms, n.reason, n.slot, "
    "n.choice, n.replaces, n.aliases, n.confidence, n.source, n.due_ms, n.first_ms, n.last_ms, "
    "n.valid_from_ms, n.valid_to_ms, n.superseded_by, n.mentions, n.message, n.quote, n.holder, "
    "n.description_message, n.reason_message ";

constexpr std::string_view kNoAliases = R"({"names":[],"keys":[]})";

struct NodePart {
  GraphNodeRow row;
  bool visible = false;
};

NodePart read_node(Statement& row) {
  NodePart part;
  GraphNodeRow& n = part.row;
  n.type = row.string(0);
  n.key = row.string(1);
  part.visible = row.integer(2) != 0;
  n.name = row.string(3);
  n.description = row.string(4);
  n.status = row.string(5);
  n.status_at = row.time(6);
  n.reason = row.string(7);
  n.slot = row.string(8);
  n.choice = row.string(9);
  n.replaces = row.string(10);
  if (row.text(11) != kNoAliases) n.aliases = strings_of(parse_object(row.text(11)), "names");
  n.confidence = row.real(12);
  n.stated = row.text(13) == "user";
  if (!row.is_null(14)) n.due = row.time(14);
  n.first = row.time(15);
  n.last = row.time(16);
  n.valid_from = row.time(17);
  if (!row.is_null(18)) n.valid_to = row.time(18);
  n.superseded_by = row.string(19);
  n.mentions = row.integer(20);
  n.message = row.integer(21);
  n.quote = row.string(22);
  n.holders = {row.string(23)};
  n.description_message = row.integer(24);
  n.reason_message = row.integer(25);
  return part;
}

// The same thing as several holders know it, laid over each other: the newest word counts.
void overlay(NodePart& into, NodePart other) {
  GraphNodeRow &a = into.row, &b = other.row;
  const bool newer = std::tie(b.last.value, b.quote) > std::tie(a.last.value, a.quote);
  if (!other.visible || (into.visible && !newer)) {
    // `b` adds to `a`
  } else {
    std::swap(a, b);
  }
  if (b.status_at > a.status_at && !b.status.empty()) {
    a.status = b.status;
    a.status_at = b.status_at;
  }
  if (a.reason.empty()) {
    a.reason = b.reason;
    a.reason_message = b.reason_message;
  }
  if (a.description.empty()) {
    a.description = b.description;
    a.description_message = b.description_message;
  }
  a.confidence = std::max(a.confidence, b.confidence);
  a.stated = a.stated || b.stated;
  a.first = std::min(a.first, b.first);
  a.mentions += b.mentions;
  if (std::tie(b.last.value, b.quote) > std::tie(a.last.value, a.quote)) {
    a.last = b.last;
    a.message = b.message;
    a.quote = b.quote;
  }
  if (b.valid_to && (!a.valid_to || *b.valid_to > *a.valid_to) && *b.valid_to > a.valid_from) {
    a.valid_to = b.valid_to;
    a.superseded_by = b.superseded_by;
  }
  a.holders.insert(a.holders.end(), b.holders.begin(), b.holders.end());
  for (auto& alias : b.aliases) {
    if (std::find(a.aliases.begin(), a.aliases.end(), alias) == a.aliases.end()) {
      a.aliases.push_back(std::move(alias));
    }
  }
  into.visible = into.visible || other.visible;
}

// Decisions and constraints that followed one another by then, by holder and type; read once for
// several things.
using SlotsThen = std::map<std::pair<std::string, std::string>, std::map<std::string, SlotState>>;

bool takes_turns(const std::string& type) {
  return type == "decision" || type == "constraint";
}

// As it stood at a time: from the claims up to then.
Result<std::optional<NodePart>> part_at(Database& db, const GraphScope& scope,
                                        const std::string& holder, const GraphNodeRow& now,
                                        SlotsThen& slots) {
  std::vector<NodeClaim> claims;
  CLAWMARK_ASSIGN(const auto names, names_of_thing(db, scope, holder, now.type, now.key));
  for (const auto& name : names) {
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT c.key, c.body, c.slot, c.choice, c.replaces, c.said_ms, c.message, c.quote, "
        "m.entry_id FROM graph_claims c JOIN graph_messages m ON m.message = c.message WHERE "
        "c.agent = ?1 AND c.holder = ?2 AND c.kind = 'node' AND c.type = ?3 AND c.key = ?4 AND "
        "c.state = 'live' AND c.said_ms <= ?5 AND c.seq <= ?6",
        [&](Statement& row) {
          claims.push_back(read_node_claim(row));
          if (name == now.key) return;
          claims.back().aliases.push_back(claims.back().name);
          claims.back().name.clear();
        },
        scope.agent, holder, now.type, name, scope.last_said(), scope.last_seq()));
  }
  const auto state = settle_node(std::move(claims));
  if (!state) return std::optional<NodePart>{};
  NodePart part;
  part.visible = state->visible;
  GraphNodeRow& n = part.row;
  n = now;
  n.name = state->name.empty() ? now.name : state->name;
  n.description = state->description;
  n.status = state->status;
  n.status_at = state->status_at;
  n.reason = state->reason;
  n.slot = state->slot;
  n.choice = state->choice;
  n.replaces = state->replaces;
  n.aliases = state->aliases;
  n.confidence = state->confidence;
  n.stated = state->stated;
  n.due = state->due;
  n.first = state->first;
  n.last = state->last;
  n.mentions = state->mentions;
  n.message = state->message;
  n.quote = state->quote;
  n.description_message = state->description_message;
  n.reason_message = state->reason_message;
  n.holders = {holder};
  n.valid_from = state->first;
  n.valid_to.reset();
  n.superseded_by.clear();
  if (!takes_turns(now.type)) return std::optional<NodePart>(std::move(part));
  const std::pair<std::string, std::string> whose{holder, now.type};
  if (!slots.contains(whose)) {
    CLAWMARK_ASSIGN(auto known, slots_then(db, scope, holder, now.type));
    slots.emplace(whose, std::move(known));
  }
  const auto& known = slots.at(whose);
  if (const auto slot = known.find(now.key); slot != known.end()) {
    n.valid_from = slot->second.from;
    n.valid_to = slot->second.to;
    n.superseded_by = slot->second.superseded_by;
    n.slot = slot->second.slot;
  }
  return std::optional<NodePart>(std::move(part));
}

TimeMs as_of(const GraphScope& scope) {
  return scope.at ? *scope.at : scope.now;
}

// All holders' parts of one thing; nullopt when nobody in sight named it.
Result<std::optional<GraphNodeRow>> assemble(Database& db, const GraphScope& scope,
                                             std::string_view type, std::string_view key,
                                             SlotsThen& slots, bool also_unnamed = false) {
  static const std::string kSql = std::string("SELECT ") + kNodeColumns +
                                  "FROM graph_nodes n WHERE n.agent = ?1 AND n.key = ?2 AND n.type "
                                  "= ?3";
  std::map<std::string, NodePart> known;  // by holder
  CLAWMARK_TRY(for_rows(
      db, kSql,
      [&](Statement& row) {
        NodePart part = read_node(row);
        const std::string holder = part.row.holders.front();
        known.emplace(holder, std::move(part));
      },
      scope.agent, key, type));
  std::optional<NodePart> whole;
  for (const auto& holder : scope.holders) {
    const auto found = known.find(holder);
    if (found == known.end()) continue;
    std::optional<NodePart> part = std::move(found->second);
    known.erase(found);
    if (scope.is_then()) {
      CLAWMARK_ASSIGN(part, part_at(db, scope, holder, part->row, slots));
    }
    if (!part) continue;
    if (whole) {
      overlay(*whole, std::move(*part));
    } else {
      whole = std::move(part);
    }
  }
  if (!whole || !(whole->visible || also_unnamed)) return std::optional<GraphNodeRow>{};
  GraphNodeRow& row = whole->row;
  row.effective = effective_node_confidence(row.type, row.confidence, row.stated, row.last,
                                            as_of(scope), scope.half_life_days);
  return std::optional<GraphNodeRow>(std::move(row));
}

// Decisions of several holders about one thing: the newest of those in sight stands.
void settle_across(std::vector<GraphNodeRow>& rows) {
  for (auto& row : rows) {
    for (const auto& other : rows) {
      if (&row == &other || row.type != other.type || row.valid_to) continue;
      const bool same = !row.slot.empty() && row.slot == other.slot && row.choice != other.choice;
      if (!takes_turns(row.type) || !same || other.valid_from <= row.valid_from) continue;
      row.valid_to = other.valid_from;
      row.superseded_by = other.key;
    }
  }
}

using NodeName = std::pair<std::string, std::string>;  // type, key

Result<std::vector<GraphNodeRow>> assemble_all(Database& db, const GraphScope& scope,
                                               const std::vector<NodeName>& names) {
  std::vector<GraphNodeRow> rows;
  std::set<NodeName> seen;
  SlotsThen slots;
  for (const auto& name : names) {
    if (!seen.insert(name).second) continue;
    CLAWMARK_ASSIGN(auto row, assemble(db, scope, name.first, name.second, slots));
    if (!row) continue;
    CLAWMARK_TRY(free_up(db, scope, *row));
    rows.push_back(std::move(*row));
  }
  return rows;
}

void sort_newest(std::vector<GraphNodeRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const GraphNodeRow& a, const GraphNodeRow& b) {
    if (a.last != b.last) return a.last > b.last;
    return std::tie(a.type, a.key) < std::tie(b.type, b.key);
  });
}

}  // namespace

double decay_factor(std::string_view type) {
  if (type == "project" || type == "person" || type == "constraint") return 8;
  if (type == "decision") return 6;
  if (type == "component") return 4;
  if (type == "concept" || type == "file") return 2;
  return 1;  // task
}

double effective_node_confidence(std::string_view type, double confidence, bool stated, TimeMs last,
                                 TimeMs now, double half_life_days) {
  if (stated) return confidence;
  const double days =
      std::max(0.0, static_cast<double>(now.value - last.value) / static_cast<double>(kDayMs));
  return confidence * std::exp2(-days / (half_life_days * decay_factor(type)));
}

double half_lives_until_stale(std::string_view type, double confidence, bool stated) {
  constexpr double kNever = 1e9;
  if (stated) return kNever;
  if (confidence <= 0) return -kNever;
  return std::log2(confidence / kStaleConfidence) * decay_factor(type);
}

Result<std::vector<GraphNodeRow>> list_nodes(Database& db, const GraphScope& scope,
                                             const NodeQuery& query) {
  // Per holder along the index, newest first: so much of each that the newest of all are among
  // them. A status may have been said where the thing was not named: rows that only have that
  // count, too.
  static const std::string kSql =
      "SELECT n.type, n.key FROM graph_nodes n WHERE n.agent = ?1 AND n.holder = ?2 AND n.type = "
      "?3 AND n.status = ?4 AND n.first_ms <= ?5 AND n.visible >= ?6 ORDER BY n.last_ms DESC, "
      "n.key LIMIT ?7";
  std::vector<std::string> types{query.type};
  if (query.type.empty()) {
    types = {"project", "component", "decision", "task", "person", "constraint", "concept", "file"};
  }
  static const std::vector<std::string> kAll = {"",        "active", "blocked",
                                                "pending", "done",   "cancelled"};
  // What it is now says nothing of what it was then; what goes on may have been called blocked.
  auto statuses = query.statuses.empty() || scope.at ? kAll : query.statuses;
  const auto has = [&](std::string_view status) {
    return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
  };
  if (has("active") && !has("blocked")) statuses.emplace_back("blocked");
  const bool alone = scope.holders.size() == 1;
  std::vector<NodeName> names;
  for (const auto& holder : scope.holders) {
    for (const auto& type : types) {
      for (const auto& status : statuses) {
        if (type != "task" && !status.empty() && query.statuses.empty()) continue;
        const bool named = alone || status.empty();
        CLAWMARK_TRY(for_rows(
            db, kSql, [&](Statement& row) { names.emplace_back(row.string(0), row.string(1)); },
            scope.agent, holder, type, status, scope.last_said(), named ? 1 : 0, query.limit));
      }
    }
  }
  CLAWMARK_ASSIGN(auto rows, assemble_all(db, scope, names));
  if (scope.holders.size() > 1) settle_across(rows);
  std::erase_if(rows, [&](const GraphNodeRow& row) {
    const bool asked =
        query.statuses.empty() ||
        std::find(query.statuses.begin(), query.statuses.end(), row.status) != query.statuses.end();
    return !asked || (query.current_only && row.valid_to);
  });
  sort_newest(rows);
  if (rows.size() > query.limit) rows.resize(query.limit);
  return rows;
}

Result<std::vector<GraphNodeRow>> stale_nodes(Database& db, const GraphScope& scope,
                                              std::string_view type, std::size_t limit) {
  // Along an index that holds all that is asked for. Some of what one holder has not heard of for
  // long another has, so more are looked at than are wanted.
  static const std::string kSql =
      "SELECT n.key FROM graph_nodes n WHERE n.agent = ?1 AND n.holder = ?2 AND n.type = ?3 AND "
      "n.visible = 1 AND n.valid_to_ms IS NULL AND n.status NOT IN ('done', 'cancelled') AND "
      "n.last_ms + n.lasts * ?4 < ?5 ORDER BY n.last_ms DESC, n.key LIMIT ?6";
  static const std::string kThen =
      "SELECT n.key FROM graph_nodes n WHERE n.agent = ?1 AND n.holder = ?2 AND n.type = ?3 AND "
      "n.visible = 1 AND n.first_ms + n.lasts * ?4 < ?5 ORDER BY n.last_ms DESC, n.key LIMIT ?6";
  const double half_life_ms = scope.half_life_days * static_cast<double>(kDayMs);
  std::vector<NodeName> names;
  for (const auto& holder : scope.holders) {
    const std::size_t looked = scope.at ? 50 * limit : scope.holders.size() > 1 ? 2 * limit : limit;
    CLAWMARK_TRY(for_rows(
        db, scope.at ? kThen : kSql,
        [&](Statement& row) { names.emplace_back(std::string(type), row.string(0)); }, scope.agent,
        holder, type, half_life_ms, as_of(scope), looked));
  }
  CLAWMARK_ASSIGN(auto rows, assemble_all(db, scope, names));
  std::erase_if(rows, [](const GraphNodeRow& row) {
    const bool over = row.status == "done" || row.status == "cancelled" || row.valid_to;
    return over || row.effective >= kStaleConfidence;
  });
  sort_newest(rows);
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

Result<std::optional<GraphNodeRow>> get_node(Database& db, const GraphScope& scope,
                                             std::string_view type, std::string_view key) {
  SlotsThen slots;
  CLAWMARK_ASSIGN(auto row, assemble(db, scope, type, key, slots));
  if (row) CLAWMARK_TRY(free_up(db, scope, *row));
  return row;
}

Result<std::optional<GraphNodeRow>> node_as_said(Database& db, const GraphScope& scope,
                                                 std::string_view type, std::string_view key) {
  SlotsThen slots;
  return assemble(db, scope, type, key, slots, true);
}

Result<std::vector<GraphNodeRow>> find_nodes(Database& db, const GraphScope& scope,
                                             std::string_view name, std::size_t limit) {
  const std::string key = name_key(name);
  std::vector<NodeName> names;
  const auto take = [&](Statement& row) { names.emplace_back(row.string(0), row.string(1)); };
  // `mentions` is in no index: without it SQLite would rather read all of the agent's names in an
  // index that covers type and key than look one up in another.
  CLAWMARK_TRY(for_rows(db,
                        "SELECT DISTINCT type, key FROM graph_nodes WHERE agent = ?1 AND key = ?2 "
                        "AND mentions >= 0 ORDER BY type",
                        take, scope.agent, key));
  CLAWMARK_ASSIGN(auto rows, assemble_all(db, scope, names));
  names.clear();
  if (rows.empty()) {
    CLAWMARK_TRY(for_rows(db,
                          "SELECT DISTINCT type, key FROM graph_aliases WHERE agent = ?1 AND alias "
                          "= ?2 ORDER BY type, key",
                          take, scope.agent, key));
    CLAWMARK_ASSIGN(rows, assemble_all(db, scope, names));
    names.clear();
  }
  if (rows.empty() && !key.empty()) {
    // Names that begin with it, or hold it as a word.
    CLAWMARK_TRY(for_rows(db,
                          "SELECT DISTINCT type, key FROM graph_nodes WHERE agent = ?1 AND key >= "
                          "?2 AND key < ?3 ORDER BY key LIMIT 50",
                          take, scope.agent, key, key + "\xF4\x8F\xBF\xBF"));
    CLAWMARK_ASSIGN(rows, assemble_all(db, scope, names));
  }
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

}  // namespace clawmark
