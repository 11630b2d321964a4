// Why: from a line back to what it rests on.

#include <algorithm>

#include "base/utf8.h"
#include "log/event_log.h"
#include "projections/large_files.h"
#include "projections/messages.h"
#include "projections/search.h"
#include "projections/why.h"
#include "serve/inject.h"
#include "serve/quote.h"
#include "serve/tool_world.h"
#include "serve/tool_writes.h"
#include "sources/text_cleaner.h"

namespace clawmark {
namespace {

constexpr std::int64_t kBodyMs = 1'000;
constexpr std::size_t kExcerpt = 600;
constexpr std::size_t kShown = 20;  // of each kind
constexpr std::size_t kRefMax = 2'000;
constexpr std::size_t kSpeakerMax = 60;
constexpr std::size_t kContentId = 19;  // lf_ and 16 digits

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 19 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The chain of one answer: lines for people, the same as rows for programs.
class Why {
 public:
  explicit Why(const ToolCallContext& context)
      : context_(context), zone_(context.serving.config()->timezone) {}

  // `ended`: it was one, and is not in any prompt now.
  Status fact(const Fact& fact, bool ended = false) {
    add((ended ? "What was the fact " : "Fact ") + fact.key + ": \u201c" +
        quote_inline(fact.value) + "\u201d (" + fact.source + ", last said " +
        format_date(fact.last_observed, zone_) + ", for " + fact.holder +
        (ended ? "; it no longer holds)" : ")"));
    CLAWMARK_ASSIGN(const auto trail, fact_trail(context_.db, fact, kShown));
    for (const auto& row : trail) {
      // It counted when it was said; a newer one holds.
      const bool holds = fold_case(row.value) == fold_case(fact.value);
      add("  " + row.kind + " as \u201c" + shorten(quote_inline(row.value), 100) + "\u201d (" +
          (row.state == "active" && !holds ? "replaced since" : row.state) + ")");
      CLAWMARK_TRY(event({row.event}));
      if (row.message > 0) CLAWMARK_TRY(message({row.message}, row.quote));
    }
    return Ok{};
  }

  Status thing(const GraphScope& scope, const GraphNodeRow& node) {
    add(node.type + " " + quote_inline(node.name) +
        (node.status.empty() ? "" : " (" + node.status + ")") +
        (node.valid_to ? ", replaced by " + node.superseded_by : ""));
    CLAWMARK_ASSIGN(const auto claims, claims_of(context_.db, scope, node.type, node.key, kShown));
    for (const auto& claim : claims) {
      CLAWMARK_TRY(event({claim.event}));
      CLAWMARK_TRY(message({claim.message}, claim.quote));
    }
    return Ok{};
  }

  Status summary(const GraphTextRow& text) {
    add("Summary sum_" + std::to_string(text.event) + " by " + text.model + ": " +
        shorten(quote_inline(text.text), kExcerpt));
    CLAWMARK_TRY(event({text.event}));
    CLAWMARK_ASSIGN(const auto found, EventLog::get(context_.db, {text.event}));
    const auto* list = found ? find_array(found->payload, "messages") : nullptr;
    for (std::size_t n = 0; list != nullptr && n < list->size() && n < kShown; ++n) {
      if ((*list)[n].is_int64()) CLAWMARK_TRY(message({(*list)[n].get_int64()}, ""));
    }
    return Ok{};
  }

  Status content(const LargeFileRow& file) {
    add("Content " + file.id + (file.name.empty() ? "" : " " + quote_inline(file.name)) + " (" +
        file.kind + ", " + std::to_string(file.bytes) + " bytes, " +
        (file.whole ? "a whole message"
                    : "from byte " + std::to_string(file.start) + " of a message") +
        "): " + shorten(quote_inline(file.summary), kExcerpt));
    return message(file.message, "");
  }

  // A message, with its text when there is no quote; false: not one that may be seen here.
  Result<bool> message_in_sight(Seq seq) {
    CLAWMARK_ASSIGN(const auto rows, read_messages(context_.db, std::span(&seq, 1)));
    if (rows.empty()) return false;
    const MessageRow& row = rows.front();
    const auto& heard = context_.sight.audiences;
    return row.agent == context_.sight.scope.agent && row.state != "deleted" &&
           std::find(heard.begin(), heard.end(), row.audience) != heard.end();
  }

  Status message(Seq seq, const std::string& quote) {
    CLAWMARK_ASSIGN(const bool seen, message_in_sight(seq));
    if (!seen) {
      add("  - message " + std::to_string(seq.value) + ": not to be seen here");
      return Ok{};
    }
    CLAWMARK_ASSIGN(const auto rows, read_messages(context_.db, std::span(&seq, 1)));
    const MessageRow& row = rows.front();
    std::string words = quote;
    if (words.empty()) {
      const BodyAnswer answer =
          context_.serving.bodies.get(context_.db, std::span(&seq, 1), kBodyMs);
      const bool there = !answer.bodies.empty() && answer.bodies.front().state != BodyState::kGone;
      words = there ? presentable_text(answer.bodies.front().text)
                    : std::string("(no longer to be read where the host kept it)");
    }
    const std::string who = row.role == "assistant" ? "assistant"
                            : row.speaker.empty()   ? row.role
                                                    : quote_inline(row.speaker);
    add("  - message " + std::to_string(seq.value) + ", " + format_date(row.occurred, zone_) +
        ", " + who + ", session " + row.session_id + ", read from " + row.carrier + " (" +
        row.state + "): \u201c" + shorten(quote_inline(words), kExcerpt) + "\u201d");
    messages_.push_back(json::object{{"message", seq.value},
                                     {"entry_id", row.entry_id},
                                     {"session_id", row.session_id},
                                     {"session_key", row.session_key},
                                     {"carrier", row.carrier},
                                     {"state", row.state},
                                     {"date", format_date(row.occurred, zone_)},
                                     {"quote", shorten(quote_inline(words), kExcerpt)}});
    return Ok{};
  }

  // What was understood of a message: facts, things, what happened.
  Status rests_on(Seq seq) {
    CLAWMARK_ASSIGN(const auto rows,
                    understood_of(context_.db, context_.sight.scope.agent, seq, kShown));
    for (const auto& row : rows) {
      if (!sees(row.holder)) continue;
      add("  \u2192 " + row.kind + " " + quote_inline(row.name) +
          (row.value.empty() ? "" : ": \u201c" + quote_inline(row.value) + "\u201d") + " (" +
          row.state + ")");
    }
    return Ok{};
  }

  bool empty() const { return lines_.empty(); }
  ToolAnswer finish() {
    json::array lines;
    std::string text;
    for (const auto& line : lines_) {
      text += (text.empty() ? "" : "\n") + line;
      lines.emplace_back(line);
    }
    return {true, text, {{"lines", std::move(lines)}, {"messages", std::move(messages_)}}};
  }

 private:
  void add(std::string line) { lines_.push_back(std::move(line)); }
  bool sees(const std::string& holder) const {
    const GraphScope scope = scope_of(context_.sight, {});
    return std::find(scope.holders.begin(), scope.holders.end(), holder) != scope.holders.end();
  }
  Status event(Seq seq) {
    CLAWMARK_ASSIGN(const auto event, EventLog::get(context_.db, seq));
    if (!event) return Ok{};
    std::string line = "  by event " + std::to_string(seq.value) + " (" + event->type;
    const std::string model = get_string(event->payload, "model");
    if (!model.empty()) line += ", " + model + " " + get_string(event->payload, "prompt_version");
    add(line + ", recorded " + format_date(event->recorded, zone_) + ")");
    return Ok{};
  }

  const ToolCallContext& context_;
  std::string zone_;
  std::vector<std::string> lines_;
  json::array messages_;
};

// "… message f85400ba]" in a citation, "f85400ba" by itself: the entry id or number; empty: none.
std::string cited_id(std::string_view ref) {
  constexpr std::string_view kOfAnId = "0123456789abcdefABCDEF-";
  const auto at = ref.rfind("message ");
  std::string id(at == std::string_view::npos ? trim(ref) : ref.substr(at + 8, 36));
  const auto end = id.find_first_not_of(kOfAnId);
  if (end != std::string::npos) id.resize(at == std::string_view::npos ? 0 : end);
  const bool digit = id.find_first_of("0123456789") != std::string::npos;
  const bool named = is_number(id) || (id.size() >= 8 && digit);  // "message facade" cites nothing
  return named ? id : std::string();
}

Result<std::optional<Seq>> cited(Database& db, const std::string& agent, const std::string& id) {
  if (is_number(id) && id.size() < 8) return std::optional<Seq>{Seq{std::stoll(id)}};
  CLAWMARK_ASSIGN(const auto seq, message_by_entry(db, agent, id));
  if (!seq && is_number(id)) return std::optional<Seq>{Seq{std::stoll(id)}};
  return seq;
}

// "- user.city: Berlin (2026-…)" → "user.city".
std::string key_in(std::string_view ref) {
  std::string_view text = trim(ref);
  if (text.starts_with("- ")) text.remove_prefix(2);
  std::string key(text.substr(0, text.find(':')));
  return check_fact_key(key).ok() ? key : std::string();
}

// Words between the first and the last quotation mark, else all.
std::string words_in(std::string_view ref) {
  const auto first = ref.find('"'), last = ref.rfind('"');
  if (first != std::string_view::npos && last > first + 1) {
    return std::string(ref.substr(first + 1, last - first - 1));
  }
  return std::string(trim(ref));
}

std::string plain_words(std::string_view text) {
  std::string out = collapse_space(fold_case(text));
  while (!out.empty() && (out.back() == ' ' || out.back() == '.')) out.pop_back();
  return out;
}

// Are these words, perhaps shortened at their end, in the text? A recalled line may hold several
// messages: "you: … / Ada: …".
bool says(std::string_view text, std::string_view words) {
  const std::string in = plain_words(text);
  const auto has = [&](std::string_view part) {
    std::string wanted = plain_words(part);
    if (wanted.ends_with("\u2026")) wanted = plain_words(wanted.substr(0, wanted.size() - 3));
    return !wanted.empty() && in.find(wanted) != std::string::npos;
  };
  if (has(words)) return true;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(" / ", at), words.size());
    const std::string_view part = words.substr(at, end - at);
    const std::size_t speaker = part.find(": ");
    const bool named = speaker != std::string_view::npos && speaker <= kSpeakerMax;
    if (named && has(part.substr(speaker + 2))) return true;
    if (at > 0 && has(part)) return true;
    at = end + 3;
  }
  return false;
}

// Messages that say these words; `near`: those that only have some of them.
Status explain_words(const ToolCallContext& context, const std::string& words, Why& why,
                     std::vector<std::int64_t>& near) {
  LexicalQuery query;
  query.text = words;
  query.zone = context.serving.config()->timezone;
  query.agent = context.sight.scope.agent;
  query.audiences = context.sight.audiences;
  query.limit = 3;
  query.deadline_ms = kBodyMs;
  CLAWMARK_ASSIGN(const LexicalAnswer found, lexical_search(context.db, query));
  std::vector<Seq> hits;
  for (const LexicalHit& hit : found.hits) hits.push_back({hit.message});
  const BodyAnswer answer = context.serving.bodies.get(context.db, hits, kBodyMs);
  for (std::size_t n = 0; n < hits.size() && n < answer.bodies.size(); ++n) {
    if (!says(presentable_text(answer.bodies[n].text), words)) {
      near.push_back(hits[n].value);
      continue;
    }
    CLAWMARK_TRY(why.message(hits[n], ""));
    CLAWMARK_TRY(why.rests_on(hits[n]));
  }
  return Ok{};
}

// "where things were left off" tells titles, which nobody has said so.
Status explain_episode(const ToolCallContext& context, const GraphScope& scope,
                       const std::string& words, Why& why) {
  EpisodeQuery query;
  query.text = words;
  query.limit = kShown;
  CLAWMARK_ASSIGN(const auto episodes, list_episodes(context.db, scope, query));
  for (const auto& episode : episodes) {
    if (plain_words(episode.title) != plain_words(words)) continue;
    CLAWMARK_TRY(why.message({episode.message}, episode.quote));
    CLAWMARK_TRY(why.rests_on({episode.message}));
  }
  return Ok{};
}

Status explain_name(const ToolCallContext& context, const GraphScope& scope, const std::string& ref,
                    Why& why, std::vector<std::int64_t>& near) {
  CLAWMARK_ASSIGN(const auto things, find_nodes(context.db, scope, ref, 5));
  for (const auto& node : things) CLAWMARK_TRY(why.thing(scope, node));
  if (why.empty()) CLAWMARK_TRY(explain_episode(context, scope, words_in(ref), why));
  return why.empty() ? explain_words(context, words_in(ref), why, near) : Status(Ok{});
}

Status explain(const ToolCallContext& context, const GraphScope& scope, const std::string& ref,
               Why& why, std::vector<std::int64_t>& near) {
  Database& db = context.db;
  if (const std::string key = key_in(ref); !key.empty()) {
    CLAWMARK_ASSIGN(const auto facts,
                    read_facts(db, scope.agent, context.sight.holders, scope.now));
    for (const Fact& fact : facts) {
      if (fact.key == key) CLAWMARK_TRY(why.fact(fact));
    }
    if (why.empty()) {
      CLAWMARK_ASSIGN(const auto ended, ended_facts(db, scope.agent, context.sight.holders, key));
      for (const Fact& fact : ended) CLAWMARK_TRY(why.fact(fact, true));
    }
    if (!why.empty()) return Ok{};
  }
  if (const std::string id = cited_id(ref); !id.empty()) {
    // A citation that names no message of this log is not answered with another one.
    CLAWMARK_ASSIGN(const auto seq, cited(db, scope.agent, id));
    CLAWMARK_ASSIGN(const bool seen, seq ? why.message_in_sight(*seq) : Result<bool>(false));
    if (!seen && (seq || id != trim(ref))) return Ok{};
    if (!seen) return explain_name(context, scope, ref, why, near);
    CLAWMARK_TRY(why.message(*seq, ""));
    return why.rests_on(*seq);
  }
  if (const auto at = ref.find("sum_"); at != std::string::npos) {
    std::string id = ref.substr(at + 4, 18);
    if (const auto end = id.find_first_not_of("0123456789"); end != std::string::npos) {
      id.resize(end);
    }
    if (!id.empty()) {
      CLAWMARK_ASSIGN(const auto text, graph_text(db, scope, "prose", std::stoll(id)));
      return text ? why.summary(*text) : Status(Ok{});
    }
  }
  if (const auto at = ref.find("lf_"); at != std::string::npos) {
    const FileScope files{scope.agent, context.sight.audiences};
    CLAWMARK_ASSIGN(const auto file, find_large_file(db, files, ref.substr(at, kContentId)));
    if (file) return why.content(*file);
  }
  return explain_name(context, scope, ref, why, near);
}

}  // namespace

Result<ToolAnswer> tool_world_explain(const ToolCallContext& context, const json::object& params) {
  if (context.sight.holders.empty()) return closed_answer(context.sight);
  const std::string ref(prefix_code_points(trim(get_string(params, "line")), kRefMax));
  if (ref.empty()) {
    return bad_request(
        "Say which line: a key, a message number, sum_42, lf_1f2e\u2026, a name, or the line "
        "itself.");
  }
  Why why(context);
  std::vector<std::int64_t> near;
  CLAWMARK_TRY(
      explain(context, scope_of(context.sight, context.serving.clock.now()), ref, why, near));
  if (why.empty()) {
    std::string text = "Nothing that can be seen here is known under that line.";
    for (std::size_t n = 0; n < near.size(); ++n) {
      text += (n == 0 ? " Some of its words are in message " : ", ") + std::to_string(near[n]);
    }
    return refusal(near.empty() ? text : text + ".");
  }
  return why.finish();
}

}  // namespace clawmark
