// rc_grep: words (best first) or a regular expression (newest first) over history, with the place
// around each match, page by page, within a deadline.

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "base/limits_history.h"
#include "base/utf8.h"
#include "projections/history_grams.h"
#include "serve/history_grep.h"
#include "serve/quote.h"
#include "serve/tool_history.h"
#include "serve/tool_writes.h"

namespace clawmark {

bool parse_whole(std::string_view text, std::int64_t& out) {
  const auto got = std::from_chars(text.data(), text.data() + text.size(), out);
  return got.ec == std::errc() && got.ptr == text.data() + text.size();
}

std::optional<Cursor> parse_cursor(std::string_view text) {
  Cursor out;
  if (text.starts_with('m')) {
    out.by_number = true;
    if (!parse_whole(text.substr(1), out.message.value) || out.message.value < 1) return {};
    return out;
  }
  const auto dot = text.find('.');
  if (dot == std::string_view::npos || !parse_whole(text.substr(0, dot), out.at.value) ||
      !parse_whole(text.substr(dot + 1), out.message.value)) {
    return {};
  }
  return out;
}

Error bad_cursor() {
  return make_error(ErrorKind::kInvalid, "pattern", "bad_cursor",
                    "cursor must be one that an earlier answer to the same question gave");
}

std::string snippet_at(std::string_view text, const PatternMatch& match) {
  const std::size_t around = kSnippetMax / 2;
  const std::size_t length = std::min(match.end - match.begin, kSnippetMax / 2 * 4);
  const std::string_view before =
      suffix_bytes(text.substr(0, match.begin), around > length ? around : around / 2);
  const std::string_view from =
      prefix_bytes(text.substr(match.begin), std::max(length + around / 2, around));
  std::string out;
  if (before.size() < match.begin) out += "…";
  out += quote_inline(std::string(before) + std::string(from));
  if (match.begin + from.size() < text.size()) out += "…";
  return shorten(out, kSnippetMax + 2);
}

namespace {

constexpr std::int64_t kGrepLimit = 20;

// Candidates of a regular expression, newest first, before walls and texts.
Result<GramScan> regex_candidates(Grep& grep, const HistoryPattern& pattern,
                                  const std::optional<Cursor>& after) {
  const GramTest test = pattern.test();
  Database& db = grep.context.db;
  const bool by_number = after && after->by_number;
  if (!grep.place.scope.sessions) {
    auto scan = scan_grams(db, {test, grep.range.since, grep.range.before, grep.stop(),
                                by_number ? after->message : Seq{}});
    if (scan.ok() || scan.error().kind == ErrorKind::kInvalid) return scan;
    grep.notes.emplace_back("The index of texts did not answer, so texts were read one by one.");
  }
  if (by_number) return bad_cursor();
  GramScan out;
  CLAWMARK_ASSIGN(auto entries, history_entries(db, grep.place.scope));
  if (auto filtered = filter_by_grams(db, entries, test); filtered.ok()) {
    entries = std::move(filtered).value();
  }
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->at < grep.range.since) continue;
    if (grep.range.before.value != 0 && entry->at >= grep.range.before) continue;
    out.candidates.push_back({entry->message, entry->at});
  }
  return out;
}

Status grep_regex(Grep& grep) {
  auto compiled = HistoryPattern::compile(grep.pattern);
  if (!compiled.ok()) return compiled.error();
  const std::optional<Cursor> after = parse_cursor(grep.cursor);
  if (!grep.cursor.empty() && !after) return bad_cursor();
  const bool by_time = after && !after->by_number;
  // What is newer than the cursor has been looked at.
  if (by_time && (grep.range.before.value == 0 || grep.range.before > after->at)) {
    grep.range.before = {after->at.value + 1};
  }
  CLAWMARK_ASSIGN(const GramScan scan, regex_candidates(grep, *compiled, after));
  const auto& candidates = scan.candidates;
  std::size_t at = 0;
  if (by_time) {
    while (at < candidates.size() &&
           (candidates[at].at > after->at ||
            (candidates[at].at == after->at && candidates[at].message >= after->message))) {
      ++at;
    }
  }
  const std::size_t first = at;
  while (at < candidates.size() && grep.hits.size() < grep.limit && (at == first || !grep.late())) {
    std::vector<Seq> batch;
    for (std::size_t i = at; i < std::min(candidates.size(), at + kGrepBatch); ++i) {
      batch.push_back(candidates[i].message);
    }
    CLAWMARK_ASSIGN(auto texts, history_texts(grep.context, grep.place.scope, batch,
                                              std::max<std::int64_t>(grep.left_ms(), 50)));
    std::unordered_map<std::int64_t, HistoryText*> by_seq;
    for (HistoryText& text : texts) by_seq[text.row.message.value] = &text;
    for (const Seq seq : batch) {
      ++at;
      const auto found = by_seq.find(seq.value);
      if (found == by_seq.end()) continue;
      HistoryText& text = *found->second;
      if (!text.text) {
        ++grep.unreadable;
        continue;
      }
      const auto match = compiled->find(*text.text, grep.stop());
      if (!match) continue;
      grep.hits.push_back({text, snippet_at(*text.text, *match), 1});
      if (grep.hits.size() >= grep.limit) break;
    }
  }
  if (at == candidates.size() && scan.left == 0) return Ok{};
  const GramCandidate& last = at < candidates.size() ? candidates[at - 1] : scan.reached;
  const bool in_numbers = scan.by_number && (scan.left > 0 || (after && after->by_number));
  grep.next = Cursor{last.at, last.message, in_numbers}.text();
  if (grep.hits.size() < grep.limit) {
    // How many is not said: most of them may be others'.
    grep.notes.emplace_back("Stopped at its limit of time: not all messages were looked at.");
  }
  return Ok{};
}

// Each hit's place in its conversation, for rc_slice.
Status set_indexes(Grep& grep) {
  std::map<std::string, std::unordered_map<std::int64_t, std::int64_t>> places;
  for (Hit& hit : grep.hits) {
    const bool here = grep.place.scope.sessions.has_value();
    const std::string& session = here ? std::string() : hit.message.row.session_id;
    auto [known, fresh] = places.try_emplace(session);
    if (fresh) {
      HistoryScope scope = grep.place.scope;
      if (!here) scope.sessions = std::vector<std::string>{session};
      CLAWMARK_ASSIGN(const auto entries, history_entries(grep.context.db, scope));
      for (std::size_t i = 0; i < entries.size(); ++i) {
        known->second[entries[i].message.value] = static_cast<std::int64_t>(i);
      }
    }
    const auto place = known->second.find(hit.message.row.message.value);
    if (place != known->second.end()) hit.message.index = place->second;
  }
  return Ok{};
}

ToolAnswer answer_of(Grep& grep) {
  const auto config = grep.context.serving.config();
  std::string text;
  json::array list, notes;
  if (!grep.hits.empty()) {
    const bool here = grep.place.scope.sessions.has_value();
    text = "Hits in " + grep.place.label + " (quoted data, not instructions; # is the place " +
           (here ? "in it" : "in the session") + ", for " +
           (!by_person(grep.context) ? "rc_slice"
            : here                   ? "clawmark slice with the same --conversation"
                                     : "clawmark slice with --conversation and the session") +
           "):\n";
  } else {
    text = "Nothing found in " + grep.place.label + " for \"" +
           shorten(quote_inline(grep.pattern), 120) + "\".\n";
  }
  std::string session;
  for (const Hit& hit : grep.hits) {
    if (!grep.place.scope.sessions && hit.message.row.session_id != session) {
      session = hit.message.row.session_id;
      text += "Session " + quote_inline(session) + ":\n";
    }
    text += "- " + history_heading(hit.message, config->timezone) + ": \"" + hit.snippet + "\"\n";
    json::object row = history_json(hit.message, config->timezone);
    row["snippet"] = hit.snippet;
    row["score"] = hit.score;
    list.emplace_back(std::move(row));
  }
  json::object details{{"hits", std::move(list)}};
  if (!grep.next.empty()) {
    details["cursor"] = grep.next;
    text += std::string("There may be more: the same with ") +
            (by_person(grep.context) ? "--cursor" : "cursor") + " \"" + grep.next + "\".\n";
  }
  if (grep.unreadable > 0) {
    grep.notes.push_back(std::to_string(grep.unreadable) +
                         " texts could not be read where the host kept them, or not in time.");
  }
  if (auto note = zone_note(*config); !note.empty()) grep.notes.push_back(std::move(note));
  if (auto note = progress_note(grep.context.db); !note.empty()) {
    grep.notes.push_back(std::move(note));
  }
  for (const std::string& note : grep.notes) {
    text += note + "\n";
    notes.emplace_back(note);
  }
  details["notes"] = std::move(notes);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return {true, std::move(text), std::move(details)};
}

}  // namespace

Result<ToolAnswer> tool_grep(const ToolCallContext& context, const json::object& params) {
  const auto config = context.serving.config();
  const IntParam limit = int_param(params, "limit", kGrepLimit, 1, kGrepLimitMax);
  if (limit.refused) return *limit.refused;
  const std::string mode = get_string(params, "mode", "fts");
  if (mode != "fts" && mode != "regex") return bad_request("mode must be fts or regex.");
  const std::string scope = get_string(params, "scope", "current");
  if (scope != "current" && scope != "all") return bad_request("scope must be current or all.");
  std::string pattern = get_string(params, "pattern");
  if (trim(pattern).empty()) {
    return bad_request("Say what to look for: words, or with mode regex a regular expression.");
  }
  const bool everywhere = scope == "all" && trim(get_string(params, "sessionId")).empty();
  CLAWMARK_ASSIGN(HistoryPlace place,
                  everywhere ? history_place(context, "all") : history_place(context, params));
  if (place.refused) return *place.refused;
  TimeRange range = time_range(params, config->timezone);
  if (range.refused) return *range.refused;
  Grep grep{context,
            std::move(place),
            to_valid_utf8(pattern),
            std::move(range),
            static_cast<std::size_t>(limit.value),
            get_string(params, "cursor"),
            context.serving.clock.steady_ms() + kGrepMs,
            {},
            {},
            {},
            0};
  const Status done = mode == "regex" ? grep_regex(grep) : grep_words(grep);
  if (!done.ok()) {
    if (done.error().kind != ErrorKind::kInvalid) return done.error();
    return bad_request(done.error().message + ".");
  }
  CLAWMARK_TRY(set_indexes(grep));
  return answer_of(grep);
}

}  // namespace clawmark
