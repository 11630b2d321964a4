#include "serve/forget_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/hash.h"
#include "base/utf8.h"
#include "log/event_log.h"
#include "projections/overview.h"
#include "projections/search.h"
#include "serve/tool_writes.h"

namespace clawmark {
namespace {

constexpr std::int64_t kBodiesMs = 5000;     // of one forgetting, for texts to compare
constexpr std::size_t kCandidatesMax = 500;  // messages that a query may name at once
constexpr std::size_t kBodiesAtOnce = 100;
constexpr std::size_t kTellingChars = 3;                 // a shorter value is in everything
constexpr std::int64_t kStatedAfterMs = 15 * kMinuteMs;  // from a person's word to clawmark_set

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Whose messages the caller may take away: its own conversation's; in a group only what it said.
bool may_forget(const ToolCallContext& context, const MessageRow& row) {
  const Sight& sight = context.sight;
  if (row.agent != sight.scope.agent || !contains(sight.audiences, row.audience)) return false;
  if (context.by == "cli" || sight.scope.lane != Lane::kGroup) return true;
  return !sight.subject.empty() && row.sender == sight.subject;
}

std::size_t keep_allowed(const ToolCallContext& context, std::vector<MessageRow>& rows) {
  return std::erase_if(rows, [&](const MessageRow& row) { return !may_forget(context, row); });
}

void add_rows(std::vector<MessageRow>& to, std::vector<MessageRow> more) {
  std::set<std::int64_t> known;
  for (const MessageRow& row : to) known.insert(row.seq.value);
  for (MessageRow& row : more) {
    if (known.insert(row.seq.value).second) to.push_back(std::move(row));
  }
}

// Of these messages the ones whose text passes; texts that cannot be had do not.
template <class Passes>
std::vector<MessageRow> with_text(const ToolCallContext& context, std::vector<MessageRow> rows,
                                  ForgetPlan& plan, const Passes& passes) {
  const std::int64_t end_ms = context.serving.clock.steady_ms() + kBodiesMs;
  std::vector<MessageRow> out;
  for (std::size_t at = 0; at < rows.size(); at += kBodiesAtOnce) {
    std::vector<Seq> seqs;
    for (std::size_t i = at; i < std::min(rows.size(), at + kBodiesAtOnce); ++i) {
      seqs.push_back(rows[i].seq);
    }
    const std::int64_t left = end_ms - context.serving.clock.steady_ms();
    const BodyAnswer answer = context.serving.bodies.get(context.db, seqs, left);
    if (!answer.in_time || !answer.failure.empty()) {
      plan.degraded.emplace_back("bodies");
      break;
    }
    for (std::size_t i = 0; i < seqs.size(); ++i) {
      if (answer.bodies[i].state != BodyState::kGone && passes(answer.bodies[i].text)) {
        out.push_back(std::move(rows[at + i]));
      }
    }
  }
  return out;
}

// Words that stand in many facts and tell none of them apart, as the index keeps them (stems).
constexpr std::array<std::string_view, 24> kSaysNothing = {
    "alway",  "becaus",  "call", "choos", "chose", "decid", "dislik", "enjoi",
    "hate",   "instead", "like", "live",  "love",  "name",  "need",   "never",
    "prefer", "rememb",  "set",  "us",    "use",   "want",  "wish",   "work"};

// The words by which a value is known again where it is told in other words ("likes jazz": jazz).
std::set<std::string> telling_words(std::string_view value) {
  std::set<std::string> out;
  for (auto& token : search_tokens(value)) {
    const bool says_nothing =
        is_stop_word(token) ||
        std::find(kSaysNothing.begin(), kSaysNothing.end(), token) != kSaysNothing.end();
    if (!says_nothing && count_code_points(token) >= kTellingChars) out.insert(std::move(token));
  }
  return out;
}

std::size_t shared_words(const std::set<std::string>& words, std::string_view text) {
  const auto tokens = search_tokens(text);
  const std::set<std::string> there(tokens.begin(), tokens.end());
  return static_cast<std::size_t>(std::count_if(
      words.begin(), words.end(), [&](const std::string& word) { return there.contains(word); }));
}

// What the same people said in the quarter of an hour behind each of these messages.
Result<std::vector<MessageRow>> said_shortly_after(const ToolCallContext& context,
                                                   const std::vector<MessageRow>& evidence) {
  std::vector<MessageRow> out;
  for (const MessageRow& row : evidence) {
    CLAWMARK_ASSIGN(auto behind,
                    said_shortly_before(context.db, row.agent, context.sight.audiences,
                                        {row.occurred.value + kStatedAfterMs}, kStatedAfterMs));
    std::erase_if(behind, [&](const MessageRow& other) {
      return other.role != "user" || other.occurred < row.occurred;
    });
    add_rows(out, std::move(behind));
  }
  return out;
}

// The messages that a fact came from: its evidence, what was said just before it was stated, what
// said it again within a quarter of an hour, and answers that repeat a word of it.
Status add_sources(const ToolCallContext& context, const Fact& fact, ForgetPlan& plan) {
  CLAWMARK_ASSIGN(auto evidence, evidence_of(context.db, fact));
  std::erase_if(evidence, [](const MessageRow& row) { return !row.recallable; });
  const std::string value = fold_case(fact.value);
  const std::set<std::string> words = telling_words(fact.value);
  if (count_code_points(value) >= kTellingChars) {
    const auto says_it = [&](const std::string& text) {
      return fold_case(text).find(value) != std::string::npos ||
             (!words.empty() && shared_words(words, text) == words.size());
    };
    const auto repeats_it = [&](const std::string& text) {
      return says_it(text) || shared_words(words, text) > 0;
    };
    CLAWMARK_ASSIGN(auto again, said_shortly_after(context, evidence));
    add_rows(evidence, with_text(context, std::move(again), plan, says_it));
    if (fact.source == "user") {
      CLAWMARK_ASSIGN(auto before,
                      said_shortly_before(context.db, fact.agent, context.sight.audiences,
                                          fact.updated, kStatedAfterMs));
      add_rows(evidence, with_text(context, std::move(before), plan, says_it));
    }
    CLAWMARK_ASSIGN(auto answers, answers_to(context.db, evidence));
    std::erase_if(answers, [](const MessageRow& row) { return !row.recallable; });
    add_rows(evidence, with_text(context, std::move(answers), plan, repeats_it));
  }
  add_rows(plan.sources, std::move(evidence));
  return Ok{};
}

Status plan_key(const ToolCallContext& context, const std::string& key, ForgetPlan& plan) {
  CLAWMARK_ASSIGN(plan.facts, changeable(context, key));
  if (plan.facts.empty()) {
    CLAWMARK_ASSIGN(const auto visible,
                    read_facts(context.db, context.sight.scope.agent, context.sight.holders,
                               context.serving.clock.now()));
    if (std::any_of(visible.begin(), visible.end(), [&](const Fact& f) { return f.key == key; })) {
      plan.refused = key + " is public to this agent; only its owner can forget it.";
    }
  }
  for (const Fact& fact : plan.facts) CLAWMARK_TRY(add_sources(context, fact, plan));
  return Ok{};
}

bool holds_all(const std::set<std::string>& words, std::string_view text) {
  const auto tokens = search_tokens(text);
  const std::set<std::string> there(tokens.begin(), tokens.end());
  return std::includes(there.begin(), there.end(), words.begin(), words.end());
}

Status plan_query(const ToolCallContext& context, const std::string& text, ForgetPlan& plan) {
  std::set<std::string> words;
  for (const auto& token : search_tokens(text)) {
    if (!is_stop_word(token)) words.insert(token);
  }
  if (words.empty()) {
    plan.refused = "Say what to forget in words that tell it apart from everything else.";
    return Ok{};
  }
  CLAWMARK_ASSIGN(auto facts, read_facts(context.db, context.sight.scope.agent,
                                         context.sight.writable, context.serving.clock.now()));
  for (Fact& fact : facts) {
    if (holds_all(words, fact.key + " " + fact.value)) plan.facts.push_back(std::move(fact));
  }
  for (const Fact& fact : plan.facts) CLAWMARK_TRY(add_sources(context, fact, plan));
  LexicalQuery query;
  query.text = text;
  query.agent = context.sight.scope.agent;
  query.audiences = context.sight.audiences;
  query.limit = kCandidatesMax;
  query.deadline_ms = kBodiesMs;
  CLAWMARK_ASSIGN(const LexicalAnswer found, lexical_search(context.db, query));
  if (found.cut || !found.degraded.empty()) plan.degraded.emplace_back("search");
  std::vector<Seq> seqs;
  for (const LexicalHit& hit : found.hits) seqs.push_back(hit.message);
  CLAWMARK_ASSIGN(auto rows, read_messages(context.db, seqs));
  keep_allowed(context, rows);
  plan.messages = with_text(context, std::move(rows), plan,
                            [&](const std::string& body) { return holds_all(words, body); });
  return Ok{};
}

Status plan_messages(const ToolCallContext& context, const ForgetRequest& request,
                     ForgetPlan& plan) {
  CLAWMARK_ASSIGN(plan.messages, read_messages(context.db, request.messages));
  const std::size_t others = keep_allowed(context, plan.messages);
  if (others > 0 || plan.messages.size() < request.messages.size()) {
    plan.refused = "There is no such message here that you could forget.";
  }
  return Ok{};
}

Status plan_session(const ToolCallContext& context, const std::string& session_id,
                    ForgetPlan& plan) {
  CLAWMARK_ASSIGN(plan.messages,
                  messages_of_session(context.db, context.sight.scope.agent, session_id));
  const std::size_t others = keep_allowed(context, plan.messages);
  if (plan.messages.empty()) {
    plan.refused = "There is no session of that name here that you could forget.";
  } else if (others == 0) {
    plan.session_id = session_id;
  }
  return Ok{};
}

Status plan_person(const ToolCallContext& context, const std::string& person, ForgetPlan& plan) {
  const Sight& sight = context.sight;
  const bool self = sight.home == "person:" + person || sight.subject == person;
  if (!self && !is_owner_sight(sight)) {
    plan.refused = "Only the owner can have another person forgotten.";
    return Ok{};
  }
  CLAWMARK_ASSIGN(plan.messages, messages_of_person(context.db, sight.scope.agent, person));
  CLAWMARK_ASSIGN(const auto holders, list_holders(context.db, sight.scope.agent));
  CLAWMARK_ASSIGN(plan.facts,
                  read_facts(context.db, sight.scope.agent, holders, context.serving.clock.now()));
  std::erase_if(plan.facts, [&](const Fact& fact) {
    return fact.holder != "person:" + person && fact.subject != person;
  });
  // A person takes away what this conversation sees of them; of the rest it learns nothing here.
  const bool owner = is_owner_sight(sight);
  if (!owner) {
    keep_allowed(context, plan.messages);
    std::erase_if(plan.facts,
                  [&](const Fact& fact) { return !contains(sight.writable, fact.holder); });
  }
  if (plan.messages.empty() && plan.facts.empty()) {
    plan.refused = "Nothing is known of " + person + ".";
  } else if (owner) {
    plan.person = person;
  }
  return Ok{};
}

}  // namespace

bool is_owner_sight(const Sight& sight) {
  return contains(sight.writable, "person:owner");
}

Result<ForgetRequest> ForgetRequest::parse(const json::object& params,
                                           const ToolCallContext& context) {
  ForgetRequest out;
  out.key = trim(get_string(params, "key"));
  out.query = trim(get_string(params, "query"));
  out.session_id = trim(get_string(params, "session"));
  out.person = trim(get_string(params, "person"));
  if (out.session_id == "current") out.session_id = context.session_id;
  if (out.person == "me") {
    const std::string& home = context.sight.home;
    out.person = home.starts_with("person:") ? home.substr(7) : context.sight.subject;
  }
  std::string ids = get_string(params, "message");
  if (const auto one = get_optional_int(params, "message")) ids = std::to_string(*one);
  for (std::size_t at = 0; at < ids.size();) {
    std::int64_t seq = 0;
    const auto parsed = std::from_chars(ids.data() + at, ids.data() + ids.size(), seq);
    if (parsed.ec != std::errc() || seq <= 0) {
      return make_error(ErrorKind::kInvalid, "tools", "bad_message",
                        "a message is named by its number, as clawmark_search shows it");
    }
    out.messages.push_back({seq});
    at = static_cast<std::size_t>(parsed.ptr - ids.data());
    while (at < ids.size() && (ids[at] == ',' || ids[at] == ' ')) ++at;
  }
  const int given = !out.key.empty() + !out.query.empty() + !out.session_id.empty() +
                    !out.person.empty() + !out.messages.empty();
  if (given != 1) {
    return make_error(ErrorKind::kInvalid, "tools", "what",
                      "Say which one thing to forget: a key, a message, a session, a person or a "
                      "query; clawmark_search shows keys and messages.");
  }
  return out;
}

Result<ForgetPlan> plan_forgetting(const ToolCallContext& context, const ForgetRequest& request) {
  ForgetPlan plan;
  if (!request.key.empty()) {
    CLAWMARK_TRY(plan_key(context, request.key, plan));
  } else if (!request.query.empty()) {
    CLAWMARK_TRY(plan_query(context, request.query, plan));
  } else if (!request.session_id.empty()) {
    CLAWMARK_TRY(plan_session(context, request.session_id, plan));
  } else if (!request.person.empty()) {
    CLAWMARK_TRY(plan_person(context, request.person, plan));
  } else {
    CLAWMARK_TRY(plan_messages(context, request, plan));
  }
  if (!plan.refused.empty()) return plan;
  CLAWMARK_ASSIGN(auto answers, answers_to(context.db, plan.messages));
  add_rows(plan.messages, std::move(answers));
  std::erase_if(plan.sources, [&](const MessageRow& source) {
    return std::any_of(plan.messages.begin(), plan.messages.end(),
                       [&](const MessageRow& row) { return row.seq == source.seq; });
  });
  CLAWMARK_ASSIGN(plan.losing,
                  facts_resting_on(context.db, plan.messages, context.serving.clock.now()));
  CLAWMARK_ASSIGN(plan.copies, copies_of(context.db, plan.messages));
  return plan;
}

std::string ForgetPlan::confirm_code() const {
  Sha256 hash;
  for (const Fact& fact : facts)
    hash.update(fact.holder).update("\n").update(fact.key).update("\n");
  std::vector<std::int64_t> seqs;
  for (const MessageRow& row : messages) seqs.push_back(row.seq.value);
  std::sort(seqs.begin(), seqs.end());
  for (const std::int64_t seq : seqs) hash.update(std::to_string(seq)).update(",");
  return to_hex(hash.finish()).substr(0, 8);
}

Result<std::vector<NewEvent>> forget_events(const ToolCallContext& context,
                                            const ForgetPlan& plan) {
  const TimeMs now = context.serving.clock.now();
  std::vector<NewEvent> out;
  Scope scope = context.sight.scope;
  if (!plan.session_id.empty()) out.push_back(session_tombstone(scope, plan.session_id, now));
  if (!plan.person.empty()) out.push_back(person_tombstone(scope, plan.person, now));
  for (const Fact& fact : plan.facts) {
    out.push_back(fact_event(
        context, event_type::kFactForgotten,
        "forgot:", {{"key", fact.key}, {"holder", fact.holder}, {"subject", fact.subject}}));
  }
  const char* why = !plan.session_id.empty() ? "session"
                    : !plan.person.empty()   ? "person"
                                             : "asked";
  CLAWMARK_ASSIGN(auto gone, message_tombstones(context.db, plan.messages, false, why, now));
  CLAWMARK_ASSIGN(auto sources, message_tombstones(context.db, plan.sources, true, "fact", now));
  std::move(gone.begin(), gone.end(), std::back_inserter(out));
  std::move(sources.begin(), sources.end(), std::back_inserter(out));
  return out;
}

}  // namespace clawmark
