#include "workers/graph_condense.h"

#include <algorithm>

#include "log/graph_events.h"
#include "projections/rebuild.h"
#include "workers/summary_text.h"

namespace clawmark {
namespace {

std::vector<std::string> texts_of(const std::vector<SummaryRow>& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.push_back(row.text);
  return out;
}

}  // namespace

HttpRequest CondenseWork::plan(std::span<const WorkItem> items) const {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(item.text);
  return summarizer_->plan(texts, job_->depth(), job_->shorter());
}

Result<SpanAnswer> CondenseWork::interpret(const Result<HttpResponse>& response,
                                           std::span<const WorkItem>) {
  CLAWMARK_ASSIGN(auto answer, summarizer_->interpret(response));
  SpanAnswer out;
  out.usage = answer.usage;
  out.summary = std::move(answer);
  return out;
}

Result<SpanAnswer> CondenseWork::run_local(std::span<const WorkItem>) {
  return make_error(ErrorKind::kFatal, "condense", "not_local", "summaries need an endpoint");
}

std::vector<WorkItem> CondenseWork::canary() const {
  WorkItem item;
  item.text = "They said hello.";
  return {item};
}

// Looked for anew only when the graph has moved.
Result<std::vector<SummaryRow>> CondensePort::due() {
  CLAWMARK_ASSIGN(const Seq folded, folded_through(store_.db(), "graph"));
  if (folded.value == seen_) return std::vector<SummaryRow>{};
  // What was written last must have arrived there, or it would be asked for and paid twice.
  CLAWMARK_ASSIGN(const auto written,
                  store_.db().query_int("SELECT max(seq) FROM events WHERE type = ?",
                                        event_type::kSummaryCompleted));
  if (folded.value < written.value_or(0)) return std::vector<SummaryRow>{};
  CLAWMARK_ASSIGN(auto rows, due_to_condense(store_.db()));
  if (rows.empty()) seen_ = folded.value;
  return rows;
}

Result<std::shared_ptr<const Batch>> CondensePort::load(const Load&, TimeMs now) {
  auto batch = std::make_shared<Batch>();
  CLAWMARK_ASSIGN(job_->sources, due());
  settled_ = false;
  for (const auto& row : job_->sources) {
    WorkItem item;
    item.message = row.event;
    item.text = row.text;
    batch->items.push_back(std::move(item));
  }
  if (!batch->items.empty()) {
    CLAWMARK_ASSIGN(batch->budget_until, spent_until(now));
  }
  return std::shared_ptr<const Batch>(std::move(batch));
}

Result<NewEvent> CondensePort::completed(const std::string& text, const std::string& method,
                                         const Usage& usage) const {
  const auto& sources = job_->sources;
  json::array below, messages;
  std::set<std::int64_t> all;
  NewEvent event;
  for (const auto& row : sources) {
    below.push_back(row.event);
    CLAWMARK_ASSIGN(const auto made, EventLog::get(store_.db(), {row.event}));
    if (!made) continue;
    event.scope = made->scope;
    event.occurred = std::max(event.occurred, made->occurred);
    if (const auto* list = find_array(made->payload, "messages")) {
      for (const auto& one : *list) {
        if (one.is_int64()) all.insert(one.get_int64());
      }
    }
  }
  for (const std::int64_t seq : all) messages.push_back(seq);
  std::string key = "summary:" + std::to_string(job_->depth()) + ":" + summarizer_->model() + ":" +
                    summarizer_->prompt_version();
  for (const auto& row : sources) key += ":" + std::to_string(row.event);
  event.type = event_type::kSummaryCompleted;
  event.dedupe_key = std::move(key);
  event.payload = {{"session_id", sources.back().session_id},
                   {"holder", sources.back().holder},
                   {"depth", job_->depth()},
                   {"sources", std::move(below)},
                   {"messages", std::move(messages)},
                   {"text", text},
                   {"method", method},
                   {"model", summarizer_->model()},
                   {"prompt_version", summarizer_->prompt_version()},
                   {"usage", json::object{{"input_tokens", usage.input_tokens},
                                          {"output_tokens", usage.output_tokens}}}};
  return event;
}

Status CondensePort::commit(const Commit& commit, TimeMs) {
  if (job_->sources.empty()) return Ok{};
  const std::int64_t first = job_->sources.front().event;
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  std::optional<NewEvent> event;
  // Half of the group is no answer: the machine splits what a server refuses.
  const bool whole = commit.items.size() == job_->sources.size();
  if (commit.answer.summary && whole) {
    const SummaryAnswer& answer = *commit.answer.summary;
    const std::string why =
        answer.cut ? "too_long"
                   : why_no_summary(answer.text, texts_of(job_->sources), target_tokens_);
    const bool shorter = job_->shorter();
    settled_ = true;
    if (why.empty()) {
      CLAWMARK_ASSIGN(event, completed(answer.text, shorter ? "shorter" : "normal", answer.usage));
    } else if (shorter) {
      CLAWMARK_ASSIGN(event,
                      completed(cut_of(texts_of(job_->sources)), "cut: " + why, answer.usage));
    } else {
      job_->again.insert(first);
    }
  } else if (commit.last && !settled_) {
    settled_ = true;
    CLAWMARK_ASSIGN(event, completed(cut_of(texts_of(job_->sources)), "cut: refused", {}));
  }
  if (event) {
    CLAWMARK_TRY(store_.log().append(txn, *event));
    job_->again.erase(first);
  }
  return txn.commit();
}

Status CondensePort::park(const Park&, TimeMs) {
  return Ok{};
}

Result<std::int64_t> CondensePort::pending(TimeMs) {
  CLAWMARK_ASSIGN(const auto rows, due());
  return rows.empty() ? 0 : 1;
}

}  // namespace clawmark
