#include <algorithm>
#include <set>

#include "sources/agent_db_rows.h"

namespace clawmark {
namespace {

Status add_sessions(Database& db, const AgentDbSchema& s, const std::string& agent,
                    std::vector<StreamInfo>& out) {
  const std::string sql =
      s.windows
          ? std::string("SELECT w.session_id, w.session_key, ") +
                (s.window_updated ? "coalesce(w.transcript_updated_at, w.updated_at)" : "0") +
                ", (SELECT max(e.seq) FROM transcript_events e WHERE e.session_id = "
                "w.session_id), " +
                (s.watermarks ? "(SELECT g.generation FROM transcript_rewrite_watermarks g WHERE "
                                "g.session_id = w.session_id)"
                              : "NULL") +
                " FROM session_windows w"
          : "SELECT session_id, '', max(created_at), max(seq), NULL FROM transcript_events "
            "GROUP BY session_id";
  CLAWMARK_ASSIGN(auto statement, db.prepare(sql));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    if (statement.is_null(3)) continue;  // no rows: pruned, cold, or not begun
    StreamInfo info;
    info.session_id = statement.string(0);
    info.key = "session:" + info.session_id;
    info.session_key = statement.string(1);
    info.agent = agent;
    info.newest = statement.time(2);
    info.tip = std::to_string(statement.integer(3)) + ":" + statement.string(4);
    out.push_back(std::move(info));
  }
}

Status add_archives(Database& db, const std::string& agent, std::vector<StreamInfo>& out) {
  std::set<std::string> live;
  for (const auto& info : out) live.insert(info.session_id);
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT session_id, generation, session_key, reason, created_at, "
                             "length(archive_blob) FROM session_transcript_archives"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    StreamInfo info;
    info.session_id = statement.string(0);
    info.key = "archive:" + info.session_id + ":" + statement.string(1);
    info.session_key = statement.string(2);
    info.agent = agent;
    info.newest = statement.time(4);
    info.live = false;
    info.deleted = statement.text(3) == "deleted" && !live.contains(info.session_id);
    if (info.deleted) info.deleted_evidence = "archive";
    info.tip = "fixed:" + statement.string(5);  // one that was cut may be written again
    out.push_back(std::move(info));
  }
}

Status add_cold(Database& db, const AgentDbSchema& s, const std::string& agent,
                std::vector<StreamInfo>& out) {
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare(s.windows ? "SELECT c.session_id, c.generation, w.session_key FROM "
                                         "session_transcript_cold_archives c LEFT JOIN "
                                         "session_windows w USING (session_id)"
                                       : "SELECT session_id, generation, '' FROM "
                                         "session_transcript_cold_archives"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    StreamInfo info;
    info.session_id = statement.string(0);
    info.key = "cold:" + info.session_id;
    info.session_key = statement.string(2);
    info.agent = agent;
    info.live = false;
    info.tip = statement.string(1);
    out.push_back(std::move(info));
  }
}

Status mark_tombstones(Database& db, const std::string& agent, std::vector<StreamInfo>& out) {
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT session_id, created_at FROM memory_session_tombstones"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    const std::string id = statement.string(0);
    bool found = false;
    for (auto& info : out) {
      if (info.session_id != id) continue;
      found = true;
      if (!info.deleted) info.deleted_evidence = "tombstone";
      info.deleted = true;
      info.tip += ":tombstone";
    }
    if (found) continue;
    StreamInfo info;
    info.key = "tombstone:" + id;
    info.session_id = id;
    info.agent = agent;
    info.newest = statement.time(1);
    info.live = false;
    info.deleted = true;
    info.deleted_evidence = "tombstone";
    info.tip = "fixed";
    out.push_back(std::move(info));
  }
}

}  // namespace

Result<std::vector<StreamInfo>> list_agent_db(Database& db, const AgentDbSchema& schema,
                                              const std::string& agent) {
  std::vector<StreamInfo> out;
  CLAWMARK_TRY(add_sessions(db, schema, agent, out));
  if (schema.archives) CLAWMARK_TRY(add_archives(db, agent, out));
  if (schema.cold) CLAWMARK_TRY(add_cold(db, schema, agent, out));
  if (schema.tombstones) CLAWMARK_TRY(mark_tombstones(db, agent, out));
  return out;
}

}  // namespace clawmark
