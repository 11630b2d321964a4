#pragma once
// Fakes for the workers: a carrier made of lists, models played by the test, a store in a folder of
// its own.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "log/store.h"
#include "sources/source.h"
#include "tests/support/fixtures.h"
#include "workers/driver.h"
#include "workers/pipeline.h"

namespace clawmark {

// A legal entry id that is easy to tell.
inline std::string uuid(int n) {
  std::string tail = std::to_string(n);
  return "00000000-0000-4000-8000-" + std::string(12 - tail.size(), '0') + tail;
}

// What a fake carrier holds of one session.
struct FakeStream {
  StreamInfo info;
  std::vector<Entry> entries;
  std::optional<std::vector<std::string>> inactive;
  std::vector<SkippedLine> skipped;  // told with the first batch
};

// Shared by all FakeSource objects that discover() makes of it.
struct FakeCarrier {
  std::string carrier = "transcripts", path = "/fake", agent = "main";
  SourceHealth health;
  std::vector<FakeStream> streams;
  std::size_t batch_items = 500;
  int reads = 0;
  bool texts_gone = false;
};

class FakeSource final : public MessageSource {
 public:
  explicit FakeSource(std::shared_ptr<FakeCarrier> held) : held_(std::move(held)) {}
  std::string_view carrier() const override { return held_->carrier; }
  std::string path() const override { return held_->path; }
  SourceHealth validate() override { return held_->health; }
  Result<std::vector<StreamInfo>> streams() override {
    std::vector<StreamInfo> out;
    for (const auto& stream : held_->streams) out.push_back(stream.info);
    return out;
  }
  Result<StreamBatch> read(const StreamInfo& info, const StreamPosition& after,
                           std::size_t items_max) override {
    ++held_->reads;
    for (const auto& stream : held_->streams) {
      if (stream.info.key != info.key) continue;
      StreamBatch batch;
      std::size_t at = after.position.empty() ? 0 : std::stoul(after.position);
      batch.next.epoch = after.epoch;
      if (at > stream.entries.size()) {
        at = 0;
        batch.next.epoch = after.epoch + 1;
        batch.epoch = EpochChange{after.epoch + 1, "shrunk"};
      }
      const std::size_t most = std::min(items_max, held_->batch_items);
      const std::size_t end = std::min(at + most, stream.entries.size());
      for (std::size_t i = at; i < end; ++i) {
        Entry entry = stream.entries[i];
        entry.place = std::to_string(i);
        entry.order = static_cast<std::int64_t>(i);
        batch.entries.push_back(std::move(entry));
      }
      if (at == 0) {
        batch.skipped = stream.skipped;
        batch.skipped_total = static_cast<std::int64_t>(stream.skipped.size());
      }
      batch.next.position = std::to_string(end);
      batch.at_end = end == stream.entries.size();
      if (batch.at_end) batch.inactive = stream.inactive;
      return batch;
    }
    return make_error(ErrorKind::kFatal, "fake", "no_stream", info.key);
  }
  std::vector<std::optional<std::string>> bodies(std::span<const Wanted> wanted) override {
    std::vector<std::optional<std::string>> out(wanted.size());
    if (held_->texts_gone) return out;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].place.empty()) continue;  // in doubt, and this carrier knows no ids
      for (const auto& stream : held_->streams) {
        const std::size_t at = std::stoul(wanted[i].place);
        if (stream.info.key == wanted[i].stream && at < stream.entries.size()) {
          out[i] = stream.entries[at].text;
        }
      }
    }
    return out;
  }
  // As a real carrier's: it changes with what it holds, and is the same as long as nothing happens.
  std::string change_token() override {
    std::string told = std::to_string(static_cast<int>(held_->health.state)) + held_->health.reason;
    for (const auto& stream : held_->streams) {
      told += '\n' + stream.info.key + ' ' + stream.info.tip + ' ' + stream.info.session_key + ' ' +
              std::to_string(stream.entries.size()) + ' ' + std::to_string(stream.info.deleted) +
              ' ' + std::to_string(stream.skipped.size());
      if (!stream.entries.empty()) told += to_hex(stream.entries.back().hash);
      for (const auto& id : stream.inactive.value_or(std::vector<std::string>{})) told += ' ' + id;
    }
    return to_hex(sha256(told));
  }

 private:
  std::shared_ptr<FakeCarrier> held_;
};

inline Entry message(std::string id, std::string role, std::string text, std::int64_t ms,
                     std::string parent = {}) {
  Entry entry;
  entry.kind = EntryKind::kMessage;
  entry.entry_id = std::move(id);
  entry.parent_id = std::move(parent);
  entry.role = std::move(role);
  entry.entry_class = "chat";
  entry.text = std::move(text);
  entry.bytes = static_cast<std::int64_t>(entry.text.size());
  entry.hash = sha256(entry.text);
  entry.time = {ms};
  return entry;
}

inline FakeStream stream(std::string session, std::vector<Entry> entries,
                         std::string key = "agent:main:main") {
  FakeStream out;
  out.info.key = session;
  out.info.session_id = std::move(session);
  out.info.session_key = std::move(key);
  out.info.agent = "main";
  for (const auto& entry : entries) out.info.newest = std::max(out.info.newest, entry.time);
  out.entries = std::move(entries);
  return out;
}

// Vectors from the text's length; fails as told.
class FakeEmbedder final : public Embedder {
 public:
  ModelId model() const override { return id; }
  bool is_local() const override { return local; }
  std::size_t batch_max() const override { return 16; }
  Result<std::vector<Vector>> embed_local(std::span<const std::string> texts) override {
    std::vector<Vector> out;
    for (const auto& text : texts) out.push_back(vector_of(text));
    embedded += texts.size();
    return out;
  }
  HttpRequest plan(std::span<const std::string> texts) const override {
    planned.assign(texts.begin(), texts.end());
    HttpRequest request;
    request.url = "http://embed.test/v1/embeddings";
    for (const auto& text : texts) request.body += text;
    return request;
  }
  Result<EmbedAnswer> interpret(const Result<HttpResponse>& response, std::size_t) override {
    if (!response.ok()) return response.error();
    if (response->status != 200) {
      return make_error(ErrorKind::kPoison, "embed", "rejected",
                        "HTTP " + std::to_string(response->status));
    }
    EmbedAnswer answer;
    for (const auto& text : planned) answer.vectors.emplace_back(vector_of(text));
    embedded += planned.size();
    return answer;
  }
  std::size_t text_bytes_max() const override { return 1600; }
  Vector vector_of(const std::string& text) const {
    Vector vector(static_cast<std::size_t>(id.dims), 0.0F);
    vector[text.size() % vector.size()] = 1.0F;
    return vector;
  }

  ModelId id{"fake-a", 8};
  bool local = true;
  std::size_t embedded = 0;
  mutable std::vector<std::string> planned;
};

// "remember KEY = VALUE" in a person's message is a fact.
class FakeExtractor final : public Extractor {
 public:
  std::string model() const override { return "fake"; }
  std::string prompt_version() const override { return "1"; }
  bool is_local() const override { return local; }
  Result<ExtractAnswer> extract_local(std::span<const WindowMessage> window,
                                      std::string_view) override {
    ++calls;
    ExtractAnswer answer;
    for (const auto& m : window) {
      if (m.text == "hello" && window.size() == 1) continue;  // the machine's canary
      seen.push_back(m.message);
      texts.push_back(m.text);
      const auto at = m.text.find("remember ");
      const auto is = m.text.find(" = ");
      if (at == std::string::npos || is == std::string::npos) continue;
      ExtractedFact fact;
      fact.key = m.text.substr(at + 9, is - at - 9);
      fact.value = m.text.substr(is + 3);
      fact.confidence = 0.95;
      fact.evidence.push_back({m.message, m.text});
      answer.facts.push_back(std::move(fact));
    }
    answer.usage = {100, 10};
    return answer;
  }
  HttpRequest plan(std::span<const WindowMessage> window, std::string_view) const override {
    HttpRequest request;
    request.url = "http://extract.test/v1/chat/completions";
    for (const auto& m : window) request.body += m.text + "\n";
    return request;
  }
  Result<ExtractAnswer> interpret(const Result<HttpResponse>& response,
                                  std::span<const WindowMessage> window) const override {
    if (!response.ok()) return response.error();
    if (response->status == 401) {
      return make_error(ErrorKind::kRetriable, "extract", "http_401", "unauthorized");
    }
    if (response->status != 200) {
      return make_error(ErrorKind::kPoison, "extract", "rejected",
                        "HTTP " + std::to_string(response->status));
    }
    return const_cast<FakeExtractor*>(this)->extract_local(window, "UTC");
  }

  bool local = true;
  int calls = 0;
  std::vector<std::int64_t> seen;
  std::vector<std::string> texts;
};

// A store with its pipeline over fake carriers; reopen() is a restart.
struct World {
  World() { open(); }
  ~World() { close(); }

  void open() {
    StoreOptions where;
    where.path = dir / "clawmark.db";
    auto opened = Store::open(where, clock);
    if (!opened.ok()) {
      ADD_FAILURE() << describe(opened.error());
      return;
    }
    store = std::make_unique<Store>(std::move(opened).value());
    PipelineOptions o = options;
    if (!o.discover) {
      o.discover = [this] {
        std::vector<OpenSource> out;
        for (const auto& held : carriers) {
          OpenSource open;
          open.source = std::make_unique<FakeSource>(held);
          open.agent = held->carrier == "lcm" ? "" : held->agent;
          open.preference = held->carrier == "lcm" ? 0 : held->carrier == "agent-db" ? 1 : 2;
          out.push_back(std::move(open));
        }
        return out;
      };
    }
    auto made = Pipeline::make(*store, clock,
                               models ? models() : PipelineModels{embedder, extractor, "", ""},
                               std::move(o));
    if (!made.ok()) {
      ADD_FAILURE() << describe(made.error());
      return;
    }
    pipeline = std::move(made).value();
  }
  void close() {
    pipeline.reset();
    store.reset();
  }
  void reopen() {
    close();
    open();
  }

  DrainReport drain() {
    OnceOptions once;
    once.call = call;
    if (waits > 0) {
      once.wait = [this](TimeMs until) {
        if (waits-- <= 0) return false;
        if (until > clock.now()) clock.advance(until.value - clock.now().value);
        return true;
      };
    }
    auto report = pipeline->run_until_idle(once);
    if (!report.ok()) {
      ADD_FAILURE() << describe(report.error());
      return {};
    }
    for (const auto& status : worker_failures()) ADD_FAILURE() << status;
    return *report;
  }
  std::vector<std::string> worker_failures() const {
    std::vector<std::string> out;
    for (const auto& row : pipeline->status()) {
      if (row.condition.state == "stopped") out.push_back(row.name + ": " + row.condition.failure);
    }
    return out;
  }
  std::int64_t count(const std::string& type) {
    return number("SELECT count(*) FROM events WHERE type = '" + type + "'");
  }
  std::int64_t number(const std::string& sql) {
    auto value = store->db().query_int(sql);
    if (!value.ok()) {
      ADD_FAILURE() << describe(value.error());
      return -1;
    }
    return value->value_or(0);
  }
  std::string text(const std::string& sql) {
    auto value = store->db().query_text(sql);
    if (!value.ok()) {
      ADD_FAILURE() << describe(value.error());
      return {};
    }
    return value->value_or("");
  }
  std::shared_ptr<FakeCarrier> add(std::string carrier, std::string path = "/fake") {
    auto held = std::make_shared<FakeCarrier>();
    held->carrier = std::move(carrier);
    held->path = std::move(path);
    carriers.push_back(held);
    return held;
  }

  support::TempDir dir;
  ManualClock clock{TimeMs{1'795'000'000'000}};
  std::vector<std::shared_ptr<FakeCarrier>> carriers;
  std::shared_ptr<FakeEmbedder> embedder = std::make_shared<FakeEmbedder>();
  std::shared_ptr<FakeExtractor> extractor = std::make_shared<FakeExtractor>();
  PipelineOptions options;
  std::function<Result<HttpResponse>(const HttpRequest&)> call;
  std::function<PipelineModels()> models;  // empty: embedder and extractor
  int waits = 0;
  std::unique_ptr<Store> store;
  std::unique_ptr<Pipeline> pipeline;
};

}  // namespace clawmark
