// Words to things and events, texts of chunks, and where lines come from.

#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"
#include "projections/graph.h"
#include "projections/graph_names.h"
#include "projections/graph_rows.h"
#include "projections/graph_then.h"
#include "projections/search.h"

namespace clawmark {
namespace {

constexpr std::size_t kScanned = 2000;  // newest of each kind that a search by words looks at

// Words of a query that say something: folded, without marks; unspaced scripts as they are.
std::vector<std::string> query_words(std::string_view text) {
  std::vector<std::string> words;
  const std::string folded = fold_case(text);
  std::string word;
  const auto end_word = [&] {
    if (count_code_points(word) > 1 || (!word.empty() && (word[0] & 0x80) != 0) ||
        (word.size() == 1 && word[0] >= '0' && word[0] <= '9')) {
      if (!is_stop_word(word)) words.push_back(word);
    }
    word.clear();
  };
  for (std::size_t at = 0; at < folded.size();) {
    const std::size_t start = at;
    const char32_t c = next_code_point(folded, at);
    const bool mark = c < 0x80 && !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' ||
                                    c == '_' || c == '.');
    if (mark || is_space(c)) {
      end_word();
    } else {
      word.append(folded, start, at - start);
    }
  }
  end_word();
  return words;
}

// The share of the query's words that stand in a text.
double coverage(const std::vector<std::string>& words, std::string_view text) {
  if (words.empty()) return 0;
  const std::string folded = fold_case(text);
  std::size_t found = 0;
  bool numbered = false, number_found = false;
  for (const auto& word : words) {
    const bool there = folded.find(word) != std::string::npos;
    found += there;
    if (word.find_first_of("0123456789") == std::string::npos) continue;
    numbered = true;
    number_found |= there;
  }
  // What is asked for by its number is no other: "Ticket 4711" is not near "Ticket 4712".
  if (numbered && !number_found) return 0;
  return static_cast<double>(found) / static_cast<double>(words.size());
}

GraphEpisodeRow read_episode(Statement& row) {
  GraphEpisodeRow out;
  out.type = row.string(0);
  out.title = row.string(1);
  out.description = row.string(2);
  out.salience = row.real(3);
  out.occurred = row.time(4);
  if (const auto nodes = parse_json(row.text(5)); nodes.ok() && nodes->is_array()) {
    for (const auto& node : nodes->get_array()) {
      if (node.is_string()) out.nodes.emplace_back(view(node.get_string()));
    }
  }
  out.message = row.integer(6);
  out.quote = row.string(7);
  return out;
}

GraphTextRow read_text(Statement& row) {
  GraphTextRow out;
  out.event = row.integer(0);
  out.session_id = row.string(1);
  const json::object body = parse_object(row.text(2));
  out.text = get_string(body, "text");
  out.model = get_string(body, "model");
  out.method = get_string(body, "method");
  out.depth = static_cast<int>(get_int(body, "depth"));
  out.sources = integers_of(body, "sources");
  out.said = row.time(3);
  out.message = row.integer(4);
  return out;
}

}  // namespace

Result<std::vector<GraphNodeRow>> search_nodes(Database& db, const GraphScope& scope,
                                               std::string_view text, std::size_t limit) {
  const auto words = query_words(text);
  if (words.empty()) return std::vector<GraphNodeRow>{};
  struct Hit {
    double score;
    std::int64_t last;
    std::string type, key;
  };
  std::vector<Hit> hits;
  for (const auto& holder : scope.holders) {
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT type, key, name, description, aliases, reason, last_ms FROM graph_nodes WHERE "
        "agent = ?1 AND holder = ?2 AND visible = 1 ORDER BY last_ms DESC LIMIT ?3",
        [&](Statement& row) {
          const double named = coverage(words, row.text(2));
          const double score = named + 0.5 * coverage(words, row.string(3) + "\n" + row.string(4) +
                                                                 "\n" + row.string(5));
          if (score > 0) hits.push_back({score, row.integer(6), row.string(0), row.string(1)});
        },
        scope.agent, holder, kScanned));
  }
  std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
    return std::tie(b.score, b.last, a.type, a.key) < std::tie(a.score, a.last, b.type, b.key);
  });
  std::vector<GraphNodeRow> rows;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& hit : hits) {
    if (rows.size() >= limit) break;
    if (!seen.emplace(hit.type, hit.key).second) continue;
    CLAWMARK_ASSIGN(auto row, get_node(db, scope, hit.type, hit.key));
    if (row) rows.push_back(std::move(*row));
  }
  return rows;
}

Result<std::vector<GraphEpisodeRow>> list_episodes(Database& db, const GraphScope& scope,
                                                   const EpisodeQuery& query) {
  const auto words = query_words(query.text);
  if (!query.text.empty() && words.empty()) return std::vector<GraphEpisodeRow>{};
  const TimeMs at = scope.last_said();
  const std::size_t asked = words.empty() ? query.limit : kScanned;
  std::vector<std::pair<double, GraphEpisodeRow>> found;
  const auto take = [&](GraphEpisodeRow episode) {
    double score = 0;
    if (!words.empty()) {
      std::string nodes;
      for (const auto& node : episode.nodes) nodes += node + "\n";
      score = coverage(words, episode.title + "\n" + episode.description + "\n" + nodes);
      if (score <= 0) return;
    }
    found.emplace_back(score, std::move(episode));
  };
  for (const auto& holder : scope.holders) {
    std::set<std::pair<std::string, std::string>> told;  // type, key: of those that were told then
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT type, title, description, salience, occurred_ms, nodes, message, quote, key FROM "
        "graph_episodes WHERE agent = ?1 AND holder = ?2 AND occurred_ms <= ?3 AND (?8 OR salience "
        ">= ?4) AND (?5 = '' OR type = ?5) AND seq <= ?7 ORDER BY occurred_ms DESC, title LIMIT ?6",
        [&](Statement& row) {
          if (scope.is_then()) {
            told.emplace(row.string(0), row.string(8));
            return;
          }
          // Most hold none of the words: seen in the row as it is, before its lists are read.
          if (words.empty() ||
              coverage(words, row.string(1) + "\n" + row.string(2) + "\n" + row.string(5)) > 0) {
            take(read_episode(row));
          }
        },
        scope.agent, holder, at, query.salience_min, query.type, asked, scope.last_seq(),
        scope.is_then()));
    for (const auto& [type, key] : told) {
      CLAWMARK_ASSIGN(auto tellings, episodes_then(db, scope, holder, type, key));
      for (auto& telling : tellings) {
        if (telling.salience >= query.salience_min) take(std::move(telling));
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    if (a.second.occurred != b.second.occurred) return a.second.occurred > b.second.occurred;
    return std::tie(a.second.title, a.second.quote) < std::tie(b.second.title, b.second.quote);
  });
  std::vector<GraphEpisodeRow> rows;
  for (auto& [score, row] : found) {
    if (rows.size() >= query.limit) break;
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<GraphTextRow>> graph_texts(Database& db, const GraphScope& scope,
                                              std::string_view kind, std::size_t limit) {
  const TimeMs at = scope.last_said();
  std::vector<GraphTextRow> rows;
  for (const auto& holder : scope.holders) {
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT seq, type, body, said_ms, message FROM graph_claims WHERE agent = ?1 AND holder = "
        "?2 AND kind = ?3 AND state = 'live' AND said_ms <= ?4 AND seq <= ?6 ORDER BY said_ms "
        "DESC, "
        "body LIMIT ?5",
        [&](Statement& row) { rows.push_back(read_text(row)); }, scope.agent, holder, kind, at,
        limit, scope.last_seq()));
  }
  std::sort(rows.begin(), rows.end(), [](const GraphTextRow& a, const GraphTextRow& b) {
    if (a.said != b.said) return a.said > b.said;
    return a.text < b.text;
  });
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

Result<std::optional<GraphTextRow>> graph_text(Database& db, const GraphScope& scope,
                                               std::string_view kind, std::int64_t event) {
  std::optional<GraphTextRow> found;
  for (const auto& holder : scope.holders) {
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT seq, type, body, said_ms, message FROM graph_claims WHERE seq = ?4 AND agent = ?1 "
        "AND holder = ?2 AND kind = ?3 AND state = 'live'",
        [&](Statement& row) { found = read_text(row); }, scope.agent, holder, kind, event));
  }
  return found;
}

Result<std::map<std::int64_t, Citation>> citations(Database& db,
                                                   const std::set<std::int64_t>& messages) {
  std::map<std::int64_t, Citation> out;
  for (const std::int64_t message : messages) {
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT message, entry_id, session_id, session_key, speaker, occurred_ms FROM "
        "graph_messages WHERE message = ?1",
        [&](Statement& row) {
          out[message] = {row.integer(0), row.string(1), row.string(2),
                          row.string(3),  row.string(4), row.time(5)};
        },
        message));
  }
  return out;
}

Result<std::vector<GraphClaimRow>> claims_of(Database& db, const GraphScope& scope,
                                             std::string_view type, std::string_view key,
                                             std::size_t limit) {
  std::vector<GraphClaimRow> rows;
  for (const auto& holder : scope.holders) {
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT seq, message, kind, state, quote, body, said_ms FROM graph_claims WHERE agent = ?1 "
        "AND holder = ?2 AND kind = 'node' AND type = ?3 AND key = ?4 AND state = 'live' AND "
        "said_ms <= ?6 AND seq <= ?7 ORDER BY said_ms DESC, id LIMIT ?5",
        [&](Statement& row) {
          rows.push_back({row.integer(0), row.integer(1), row.string(2), row.string(3),
                          row.string(4), row.string(5), row.time(6)});
        },
        scope.agent, holder, type, key, limit, scope.last_said(), scope.last_seq()));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const GraphClaimRow& a, const GraphClaimRow& b) { return a.said > b.said; });
  return rows;
}

}  // namespace clawmark
