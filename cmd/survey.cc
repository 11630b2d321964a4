#include "cmd/survey.h"

#include <unordered_set>

#include "base/hash.h"
#include "base/limits.h"
#include "base/secret_shapes.h"
#include "cmd/app.h"
#include "cmd/source_options.h"
#include "models/endpoint.h"
#include "sources/source.h"

namespace clawmark {
namespace {

class Counter {
 public:
  explicit Counter(Survey& out) : out_(out) {}

  void add(const std::string& agent, const Entry& entry, SurveyedCarrier& carrier) {
    if (entry.kind != EntryKind::kMessage) return;
    ++carrier.messages;
    carrier.bytes += entry.bytes;
    // An entry id names a message by itself only when it is a UUID (docs/sources.md).
    std::string name = agent + '\n' + entry.entry_id;
    if (!secret::is_uuid(entry.entry_id)) {
      name += '\n' + std::to_string(entry.time.value / 1000) + entry.role + to_hex(entry.hash);
    }
    if (!seen_.insert(fnv1a(name)).second) return;
    ++out_.messages;
    out_.bytes += entry.bytes;
    if (entry.entry_class == "chat" && entry.noise.empty()) {
      ++out_.said;
      said_bytes_ += entry.bytes;
    }
    if (entry.time.value <= 0) return;
    if (out_.oldest.value == 0 || entry.time < out_.oldest) out_.oldest = entry.time;
    out_.newest = std::max(out_.newest, entry.time);
  }

  double said_bytes_mean() const {
    return out_.said == 0 ? 0 : static_cast<double>(said_bytes_) / static_cast<double>(out_.said);
  }

 private:
  Survey& out_;
  std::unordered_set<std::uint64_t> seen_;
  std::int64_t said_bytes_ = 0;
};

Status count_stream(OpenSource& open, const StreamInfo& stream, SurveyedCarrier& carrier,
                    Counter& counter) {
  StreamPosition at;
  for (;;) {
    CLAWMARK_ASSIGN(auto batch, open.source->read(stream, at, kSourceBatchItems));
    const std::string& agent = open.agent.empty() ? stream.agent : open.agent;
    for (const Entry& entry : batch.entries) counter.add(agent, entry, carrier);
    // A carrier that changes while it is read may stand still: then it is for the daemon to say.
    if (batch.at_end || batch.next.position == at.position) return Ok{};
    at = std::move(batch.next);
  }
}

void count_carrier(OpenSource& open, SurveyedCarrier& carrier, Counter& counter) {
  const SourceHealth health = open.source->validate();
  carrier.state = to_string(health.state);
  carrier.message = health.message;
  if (health.state != SourceState::kOk && health.state != SourceState::kStale) return;
  const auto failed = [&](const Error& error) {
    carrier.state = "broken";
    carrier.message = error.message;
  };
  const auto streams = open.source->streams();
  if (!streams) return failed(streams.error());
  for (const StreamInfo& stream : *streams) {
    ++carrier.streams;
    if (const auto read = count_stream(open, stream, carrier, counter); !read) {
      return failed(read.error());
    }
  }
}

}  // namespace

Survey survey_sources(const Config& config, const Clock& clock) {
  Survey out;
  Counter counter(out);
  for (OpenSource& open : discover_sources(source_options(config), clock)) {
    SurveyedCarrier& carrier = out.carriers.emplace_back();
    carrier.carrier = open.source->carrier();
    carrier.path = open.source->path();
    count_carrier(open, carrier, counter);
  }
  BacklogCounts counts;
  counts.messages_to_embed = counts.messages_to_extract = out.said;
  counts.bytes_mean = counter.said_bytes_mean();
  const auto asked_at = [](const std::string& url, const std::string& model) {
    return url.empty() ? std::string() : shown_url(url) + "|" + model;
  };
  counts.embed_model = asked_at(config.embedding_url, config.embedding_model);
  counts.extract_model = asked_at(config.extract_url, config.extract_model);
  out.cost = estimate_backlog(counts, own_prices());
  return out;
}

json::object to_json(const Survey& survey) {
  json::array carriers;
  for (const auto& carrier : survey.carriers) {
    carriers.push_back(json::object{{"carrier", carrier.carrier},
                                    {"path", carrier.path},
                                    {"state", carrier.state},
                                    {"message", carrier.message},
                                    {"streams", carrier.streams},
                                    {"messages", carrier.messages},
                                    {"bytes", carrier.bytes}});
  }
  return json::object{
      {"carriers", std::move(carriers)},
      {"messages", survey.messages},
      {"bytes", survey.bytes},
      {"said", survey.said},
      {"oldest", survey.oldest.value == 0 ? "" : format_iso(survey.oldest)},
      {"newest", survey.newest.value == 0 ? "" : format_iso(survey.newest)},
      {"cost", json::object{{"messages_to_embed", survey.cost.messages_to_embed},
                            {"messages_to_extract", survey.cost.messages_to_extract},
                            {"embed_tokens", survey.cost.embed_tokens},
                            {"extract_tokens", survey.cost.extract_tokens},
                            {"usd", survey.cost.usd}}}};
}

}  // namespace clawmark
