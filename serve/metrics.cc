#include "serve/metrics.h"

#include <cstdio>

namespace clawmark {
namespace {

struct Help {
  std::string_view name, text;
};
constexpr Help kHelp[] = {
    {"clawmark_requests_total", "Calls answered, by route and status."},
    {"clawmark_inject_seconds", "Time taken by an inject call."},
    {"clawmark_tool_seconds", "Time taken by a tool call."},
    {"clawmark_injected_items_total", "Facts and excerpts put into prompts."},
    {"clawmark_refusals_total", "Callers that met a closed wall, by reason."},
    {"clawmark_degraded_total", "Answers without one of their parts, by part."},
    {"clawmark_withheld_total", "Excerpts left out because they read like orders."},
    {"clawmark_worker_lag", "What a worker has still before it."},
    {"clawmark_worker_up", "1 while the worker runs or waits, 0 when blocked or stopped."},
    {"clawmark_messages", "Messages in the log."},
    {"clawmark_facts", "Live facts."},
    {"clawmark_events", "Events in the log."},
    {"clawmark_parked", "Items that a worker set aside."},
    {"clawmark_vectors", "Vectors in the index."},
    {"clawmark_source_ok", "1 while a carrier is read without trouble."},
    {"clawmark_connections_open", "Open connections."},
    {"clawmark_http_bad_requests_total", "Requests that were no valid HTTP or over a limit."},
    {"clawmark_http_timeouts_total", "Requests cut off for being too slow."},
    {"clawmark_http_refused_total", "Connections over the cap."},
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
    for (const Help& help : kHelp) {
      if (help.name == name)
        out.append("# HELP ").append(name).append(" ").append(help.text).append("\n");
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
