#include <algorithm>

#include "base/limits.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "serve/forget_plan.h"
#include "serve/quote.h"
#include "serve/tool_writes.h"
#include "sources/text_cleaner.h"

namespace clawmark {
namespace {

constexpr std::size_t kShown = 10;    // of a preview, in words
constexpr std::size_t kListed = 200;  // of a preview, in details
constexpr std::int64_t kPreviewBodiesMs = 500;
constexpr std::size_t kGlimpse = 80;  // characters of a message in a preview

json::array facts_json(const std::vector<Fact>& facts) {
  json::array out;
  for (const Fact& fact : facts) {
    if (out.size() >= kListed) break;
    out.push_back(json::object{{"key", fact.key},
                               {"value", quote_inline(fact.value)},
                               {"holder", fact.holder},
                               {"source", fact.source}});
  }
  return out;
}

json::array messages_json(const ToolCallContext& context, const std::vector<MessageRow>& rows) {
  std::vector<Seq> seqs;
  for (const MessageRow& row : rows) {
    if (seqs.size() < kListed) seqs.push_back(row.seq);
  }
  const BodyAnswer answer = context.serving.bodies.get(context.db, seqs, kPreviewBodiesMs);
  const auto config = context.serving.config();
  json::array out;
  for (std::size_t i = 0; i < seqs.size(); ++i) {
    out.push_back(json::object{
        {"id", std::to_string(seqs[i].value)},
        {"date", format_date(rows[i].occurred, config->timezone)},
        {"role", rows[i].role},
        {"speaker", quote_inline(rows[i].speaker)},
        {"session_id", rows[i].session_id},
        {"excerpt", shorten(quote_inline(presentable_text(answer.bodies[i].text)), kGlimpse)}});
  }
  return out;
}

std::string listed(const json::array& facts, const json::array& messages) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& fact : facts) {
    if (++shown > kShown) break;
    text += "- " + get_string(fact.get_object(), "key") + ": " +
            get_string(fact.get_object(), "value") + "\n";
  }
  shown = 0;
  for (const auto& message : messages) {
    if (++shown > kShown) break;
    const auto& row = message.get_object();
    text += "- " + get_string(row, "date") + ", " + get_string(row, "role") + ": \"" +
            get_string(row, "excerpt") + "\"\n";
  }
  return text;
}

ToolAnswer preview_answer(const ToolCallContext& context, const ForgetPlan& plan) {
  json::array facts = facts_json(plan.facts);
  for (auto& fact : facts_json(plan.losing)) {
    if (std::find(facts.begin(), facts.end(), json::value(fact)) == facts.end()) {
      facts.push_back(std::move(fact));
    }
  }
  json::array messages = messages_json(context, plan.messages);
  json::array sources = messages_json(context, plan.sources);
  const std::size_t count = facts.size();
  std::string text = "Would forget " + counted(count, "fact", "facts") + " and " +
                     counted(plan.messages.size(), "message", "messages") + " for good";
  if (!plan.sources.empty()) {
    text += ", and no longer recall " + counted(plan.sources.size(), "message", "messages") +
            " that they came from";
  }
  text += ":\n" + listed(facts, messages) + listed({}, sources);
  if (plan.copies > 0) {
    text +=
        counted(static_cast<std::size_t>(plan.copies), "other message says", "other messages say") +
        " exactly the same and would stay.\n";
  }
  if (!plan.degraded.empty()) text += "Some texts could not be read; there may be more.\n";
  text += "To do it, ask again with confirm \"" + plan.confirm_code() + "\".";
  return {true,
          std::move(text),
          {{"preview", true},
           {"forgotten", false},
           {"facts", std::move(facts)},
           {"messages", std::move(messages)},
           {"sources", std::move(sources)},
           {"message_count", static_cast<std::int64_t>(plan.messages.size())},
           {"copies", plan.copies},
           {"confirm", plan.confirm_code()}}};
}

// The writer takes a bounded number of events at a time; each part holds by itself.
Status submit_all(const ToolCallContext& context, std::vector<NewEvent> events) {
  for (std::size_t at = 0; at < events.size(); at += kEventBatchMax) {
    const auto from = events.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to =
        events.begin() + static_cast<std::ptrdiff_t>(std::min(events.size(), at + kEventBatchMax));
    CLAWMARK_TRY(submit(context, std::vector<NewEvent>(std::make_move_iterator(from),
                                                       std::make_move_iterator(to))));
  }
  return Ok{};
}

Result<bool> still_there(const ToolCallContext& context, const ForgetPlan& plan) {
  for (const Fact& fact : plan.facts) {
    CLAWMARK_ASSIGN(const auto left, find_fact(context.db, fact.agent, fact.holder, fact.subject,
                                               fact.key, context.serving.clock.now()));
    if (left) return true;
  }
  for (const auto* rows : {&plan.messages, &plan.sources}) {
    for (const MessageRow& row : *rows) {
      CLAWMARK_ASSIGN(const auto left, find_message(context.db, row.seq));
      if (left && left->recallable) return true;
    }
  }
  return false;
}

std::string done_text(const ForgetRequest& request, const ForgetPlan& plan) {
  std::string text = "Forgot ";
  if (!request.key.empty()) {
    text += request.key + ".";
  } else {
    text += counted(plan.messages.size(), "message", "messages") + " and " +
            counted(plan.facts.size() + plan.losing.size(), "fact", "facts") + ".";
  }
  if (!plan.sources.empty()) {
    text += " " + counted(plan.sources.size(), "message", "messages") + " it came from " +
            (plan.sources.size() == 1 ? "is" : "are") + " not recalled any more.";
  }
  return text;
}

Result<ToolAnswer> purge_now(const ToolCallContext& context, ToolAnswer answer) {
  if (context.by != "cli" && !is_owner_sight(context.sight)) {
    answer.text += " Only the owner can have it taken out of the files at once.";
    return answer;
  }
  CLAWMARK_ASSIGN(json::object report, context.serving.writer->run("purge", {}));
  answer.text += (answer.text.empty() ? "" : " ") + get_string(report, "text");
  answer.ok = answer.ok && get_bool(report, "ok", true);
  answer.details["purge"] = std::move(report);
  return answer;
}

Result<ToolAnswer> carry_out(const ToolCallContext& context, const ForgetRequest& request,
                             const ForgetPlan& plan) {
  CLAWMARK_ASSIGN(auto events, forget_events(context, plan));
  CLAWMARK_TRY(submit_all(context, std::move(events)));
  CLAWMARK_ASSIGN(const bool left, still_there(context, plan));
  if (left) {
    return make_error(ErrorKind::kRetriable, "writer", "not_folded",
                      "the forgetting is recorded but not in force yet; ask again");
  }
  return ToolAnswer{true,
                    done_text(request, plan),
                    {{"forgotten", true},
                     {"facts", static_cast<std::int64_t>(plan.facts.size() + plan.losing.size())},
                     {"messages", static_cast<std::int64_t>(plan.messages.size())},
                     {"sources", static_cast<std::int64_t>(plan.sources.size())}}};
}

}  // namespace

Result<ToolAnswer> tool_forget(const ToolCallContext& context, const json::object& params) {
  const json::object nothing{{"forgotten", false}};
  const bool wants_purge = get_bool(params, "purge");
  if (context.sight.writable.empty()) {
    ToolAnswer closed = closed_answer(context.sight);
    closed.details = nothing;
    return closed;
  }
  const auto request = ForgetRequest::parse(params, context);
  if (!request.ok()) {
    const bool only_purge = wants_purge && request.error().reason == "what";
    if (!only_purge) return bad_request(request.error().message, nothing);
    if (context.serving.writer == nullptr) return submit(context, {}).error();
    return purge_now(context, {true, "", nothing});
  }
  CLAWMARK_ASSIGN(const ForgetPlan plan, plan_forgetting(context, *request));
  if (!plan.refused.empty()) return refusal(plan.refused, nothing);
  if (plan.empty()) {
    const bool unsaid = request->key.empty() || key_holds_secret(request->key);
    const std::string what =
        unsaid ? "Nothing of that is known here." : "No fact stored under " + request->key + ".";
    ToolAnswer none{true, what, nothing};
    return wants_purge && context.serving.writer != nullptr ? purge_now(context, std::move(none))
                                                            : none;
  }
  // A model is easily talked into much: a person sees what would go before it goes.
  const bool unconfirmed = context.by == "tool" && request->is_broad() &&
                           get_string(params, "confirm") != plan.confirm_code();
  if (get_bool(params, "preview") || unconfirmed) return preview_answer(context, plan);
  CLAWMARK_ASSIGN(ToolAnswer done, carry_out(context, *request, plan));
  return wants_purge ? purge_now(context, std::move(done)) : std::move(done);
}

}  // namespace clawmark
