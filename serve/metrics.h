#pragma once
// Counters, gauges and histograms in the Prometheus text format (exposition format 0.0.4). Names
// are `clawmark_…`.

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace clawmark {

// Seconds.
constexpr std::array<double, 12> kLatencyBuckets = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                                    0.1,   0.15,  0.3,   1,    5,    30};

// One family: the contract of docs/metrics.md. Labels are of bounded sets.
struct MetricInfo {
  std::string_view name, type;  // "counter", "gauge", "histogram"
  std::string_view labels;      // "route, status"; empty: none
  std::string_view help;
};
std::span<const MetricInfo> metric_table();
// docs/metrics.md
std::string metrics_page();

// Safe from several threads. A label set is given as `name="value",…`; label() escapes a value.
class Metrics {
 public:
  void count(std::string_view name, std::string_view labels = {}, double by = 1);
  void set(std::string_view name, std::string_view labels, double value);  // a gauge
  void observe(std::string_view name, std::string_view labels, double seconds);
  double value(std::string_view name, std::string_view labels = {}) const;  // 0 when never set
  std::map<std::string, double> by_label(std::string_view name) const;      // labels → value
  std::string text() const;

  static std::string label(std::string_view name, std::string_view value);

 private:
  struct Histogram {
    std::array<std::uint64_t, kLatencyBuckets.size()> buckets{};
    std::uint64_t count = 0;
    double sum = 0;
  };
  struct Family {
    bool gauge = false;
    std::map<std::string, double> values;
    std::map<std::string, Histogram> histograms;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;
};

}  // namespace clawmark
