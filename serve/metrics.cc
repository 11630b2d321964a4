#include "serve/metrics.h"

#include <cstdio>

namespace clawmark {
namespace {

constexpr MetricInfo kTable[] = {
    {"clawmark_requests_total", "counter", "route, status", "Calls answered."},
    {"clawmark_inject_seconds", "histogram", "", "Time taken by an inject call."},
    {"clawmark_tool_seconds", "histogram", "tool", "Time taken by a tool call."},
    {"clawmark_injected_items_total", "counter", "kind",
     "Facts and excerpts put into prompts: kind fact or recall."},
    {"clawmark_refusals_total", "counter", "reason", "Callers that met a closed wall."},
    {"clawmark_degraded_total", "counter", "part",
     "Answers without one of their parts, as it was late or failed; not intended."},
    {"clawmark_withheld_total", "counter", "",
     "Excerpts left out because they read like orders; intended."},
    {"clawmark_worker_lag", "gauge", "worker", "What a worker has still before it."},
    {"clawmark_worker_up", "gauge", "worker",
     "1 while the worker runs or waits, 0 when blocked or stopped."},
    {"clawmark_source_ok", "gauge", "carrier, path",
     "1 while a carrier is read without trouble; one for each agent's database or folder."},
    {"clawmark_messages", "gauge", "", "Messages in the log."},
    {"clawmark_messages_recallable", "gauge", "",
     "Of them, those that may be recalled and whose text can be had."},
    {"clawmark_texts_gone", "gauge", "",
     "Messages that might be recalled, but whose text no carrier and no vault has."},
    {"clawmark_vault_texts", "gauge", "", "Texts of which the store keeps a copy."},
    {"clawmark_newest_message_timestamp_seconds", "gauge", "",
     "When the newest message was said; 0: there is none."},
    {"clawmark_facts", "gauge", "", "Live facts."},
    {"clawmark_facts_stated", "gauge", "", "Of them, those that people stated."},
    {"clawmark_events", "gauge", "", "Events in the log."},
    {"clawmark_parked", "gauge", "", "Items that a worker set aside."},
    {"clawmark_skipped_lines", "gauge", "", "Lines and rows of carriers that cannot be read."},
    {"clawmark_vectors", "gauge", "", "Vectors in the index."},
    {"clawmark_spend_today_tokens", "gauge", "",
     "Tokens that models used for background work in this UTC day."},
    {"clawmark_spend_today_usd", "gauge", "", "What they cost about, in US dollars."},
    {"clawmark_healthy", "gauge", "", "1 while no warning is red, as /healthz says."},
    {"clawmark_build_info", "gauge", "version", "Always 1; the version as a label."},
};

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.10g", value);
  return text;
}

std::string braced(std::string_view labels, std::string_view more = {}) {
  std::string out(labels);
  if (!out.empty() && !more.empty()) out.push_back(',');
  out.append(more);
  return out.empty() ? out : "{" + out + "}";
}

}  // namespace

std::span<const MetricInfo> metric_table() {
  return kTable;
}

std::string metrics_page() {
  std::string out =
      "# Metrics\n\nMade by `clawmark manual --metrics` from the table in serve/metrics.cc; a test "
      "compares. `GET /metrics` on the socket answers in the text format of Prometheus:\n\n"
      "    curl --unix-socket ~/.local/share/clawmark/clawmark.sock http://localhost/metrics\n\n"
      "No metric and no label holds anybody's words. Counters begin anew with the process; a "
      "family "
      "is there once it was counted.\n\n| name | type | labels | |\n|---|---|---|---|\n";
  for (const MetricInfo& info : kTable) {
    out.append("| `").append(info.name).append("` | ").append(info.type).append(" | ");
    out.append(info.labels).append(" | ").append(info.help).append(" |\n");
  }
  out +=
      "\nA dashboard for Grafana is in deploy/grafana/clawmark.json. Prometheus asks over TCP: let "
      "a "
      "proxy of yours hand the socket on, for instance\n\n"
      "    socat TCP-LISTEN:9464,bind=127.0.0.1,fork UNIX-CONNECT:$HOME/.local/share/clawmark/"
      "clawmark.sock\n\n"
      "which opens the whole interface to every user of the machine: only where you are alone on "
      "it.\n";
  return out;
}

void Metrics::count(std::string_view name, std::string_view labels, double by) {
  const std::lock_guard lock(mutex_);
  families_[std::string(name)].values[std::string(labels)] += by;
}

void Metrics::set(std::string_view name, std::string_view labels, double value) {
  const std::lock_guard lock(mutex_);
  Family& family = families_[std::string(name)];
  family.gauge = true;
  family.values[std::string(labels)] = value;
}

void Metrics::observe(std::string_view name, std::string_view labels, double seconds) {
  const std::lock_guard lock(mutex_);
  Histogram& histogram = families_[std::string(name)].histograms[std::string(labels)];
  for (std::size_t i = 0; i < kLatencyBuckets.size(); ++i) {
    if (seconds <= kLatencyBuckets[i]) ++histogram.buckets[i];
  }
  ++histogram.count;
  histogram.sum += seconds;
}

double Metrics::value(std::string_view name, std::string_view labels) const {
  const std::lock_guard lock(mutex_);
  const auto family = families_.find(name);
  if (family == families_.end()) return 0;
  const auto value = family->second.values.find(std::string(labels));
  return value == family->second.values.end() ? 0 : value->second;
}

std::map<std::string, double> Metrics::by_label(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto family = families_.find(name);
  return family == families_.end() ? std::map<std::string, double>{} : family->second.values;
}

std::string Metrics::label(std::string_view name, std::string_view value) {
  std::string out(name);
  out.append("=\"");
  for (const char c : value) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out.append("\\n");
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

std::string Metrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [name, family] : families_) {
    for (const MetricInfo& info : kTable) {
      if (info.name != name) continue;
      out.append("# HELP ").append(name).append(" ").append(info.help).append("\n");
    }
    const char* type = !family.histograms.empty() ? "histogram"
                       : family.gauge             ? "gauge"
                                                  : "counter";
    out.append("# TYPE ").append(name).append(" ").append(type).append("\n");
    for (const auto& [labels, value] : family.values) {
      out.append(name).append(braced(labels)).append(" ").append(number(value)).append("\n");
    }
    for (const auto& [labels, histogram] : family.histograms) {
      for (std::size_t i = 0; i < kLatencyBuckets.size(); ++i) {
        out.append(name).append("_bucket");
        out.append(braced(labels, label("le", number(kLatencyBuckets[i]))));
        out.append(" ").append(std::to_string(histogram.buckets[i])).append("\n");
      }
      const std::string count = std::to_string(histogram.count);
      out.append(name).append("_bucket").append(braced(labels, label("le", "+Inf")));
      out.append(" ").append(count).append("\n");
      out.append(name)
          .append("_sum")
          .append(braced(labels))
          .append(" ")
          .append(number(histogram.sum));
      out.append("\n")
          .append(name)
          .append("_count")
          .append(braced(labels))
          .append(" ")
          .append(count);
      out.append("\n");
    }
  }
  return out;
}

}  // namespace clawmark
