// The metrics as a contract: names by the conventions of Prometheus, one table from which the page
// is made, code that tells nothing else, and a dashboard that asks for nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "base/files.h"
#include "serve/metrics.h"
#include "test_paths.h"
#include "tests/serve/world.h"

namespace clawmark {
namespace {

const MetricInfo* info_of(std::string name) {
  for (const char* suffix : {"_bucket", "_sum", "_count", ""}) {
    if (!name.ends_with(suffix)) continue;
    const std::string family = name.substr(0, name.size() - std::string_view(suffix).size());
    for (const MetricInfo& info : metric_table()) {
      const bool parts = std::string_view(suffix).empty() || info.type == "histogram";
      if (info.name == family && parts) return &info;
    }
  }
  return nullptr;
}

std::set<std::string> words_of(std::string_view list) {
  std::set<std::string> out;
  const std::regex word("[a-z_]+");
  const std::string text(list);
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
    out.insert(at->str());
  }
  return out;
}

TEST(MetricTable, names_follow_the_conventions_and_labels_are_of_bounded_sets) {
  const std::set<std::string> bounded{"route", "status", "tool",    "kind", "reason",
                                      "part",  "worker", "carrier", "path", "version"};
  std::set<std::string_view> seen;
  for (const MetricInfo& info : metric_table()) {
    const std::string name(info.name);
    EXPECT_TRUE(seen.insert(info.name).second) << name;
    EXPECT_TRUE(std::regex_match(name, std::regex("clawmark_[a-z]+(_[a-z]+)*"))) << name;
    EXPECT_EQ(info.type == "counter", name.ends_with("_total")) << name;
    EXPECT_TRUE(info.type != "histogram" || name.ends_with("_seconds")) << name;
    for (const char* unit : {"_ms", "_milliseconds", "_minutes", "_kb", "_mb"}) {
      EXPECT_FALSE(name.ends_with(unit)) << name << ": base units";
    }
    EXPECT_TRUE(info.help.ends_with('.')) << name;
    for (const auto& label : words_of(info.labels)) EXPECT_TRUE(bounded.contains(label)) << name;
  }
}

TEST(MetricTable, is_what_the_page_says) {
  const auto page = read_file(std::string(CLAWMARK_SOURCE_DIR) + "/docs/metrics.md");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page, metrics_page()) << "clawmark manual --metrics > docs/metrics.md";
}

// Every name in the sources is in the table with its type, and every row of the table is in the
// sources.
TEST(MetricTable, is_all_that_the_code_tells) {
  std::set<std::string> used;
  const std::regex literal("\"(clawmark_[a-z_]+)\"");
  for (const char* room : {"/serve", "/cmd"}) {
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(std::string(CLAWMARK_SOURCE_DIR) + room)) {
      const std::string path = file.path().string();
      if (!path.ends_with(".cc") || path.ends_with("/metrics.cc")) continue;
      const std::string text = read_file(path).value();
      if (text.find("metrics.") == std::string::npos) continue;
      for (std::sregex_iterator at(text.begin(), text.end(), literal), end; at != end; ++at) {
        const std::string name = (*at)[1];
        if (info_of(name) != nullptr) used.insert(name);
        const bool tool =
            name.starts_with("clawmark_") && std::count(name.begin(), name.end(), '_') == 1;
        EXPECT_TRUE(info_of(name) != nullptr || tool) << name << " in " << path;
      }
    }
  }
  for (const MetricInfo& info : metric_table()) {
    EXPECT_TRUE(used.contains(std::string(info.name))) << info.name << " is told nowhere";
  }
}

TEST(MetricTable, is_what_an_answer_is_made_of) {
  World world;
  const std::string text = answer_call(*world.serving, {"GET", "/metrics", {}, ""}).body;
  const std::regex line("(clawmark_[a-z_]+)(\\{([^}]*)\\})? .*");
  std::size_t begin = 0;
  int samples = 0;
  while (begin < text.size()) {
    const auto end = text.find('\n', begin);
    const std::string row = text.substr(begin, end - begin);
    begin = end + 1;
    if (row.starts_with("# TYPE ")) {
      const std::string name = row.substr(7, row.rfind(' ') - 7);
      ASSERT_NE(info_of(name), nullptr) << row;
      EXPECT_EQ(row.substr(row.rfind(' ') + 1), info_of(name)->type) << row;
      EXPECT_NE(text.find("# HELP " + name + " "), std::string::npos) << row;
    }
    std::smatch match;
    if (row.starts_with('#') || !std::regex_match(row, match, line)) continue;
    ++samples;
    const MetricInfo* info = info_of(match[1]);
    ASSERT_NE(info, nullptr) << row;
    std::string labels = match[3];
    labels = std::regex_replace(labels, std::regex("=\"[^\"]*\""), " ");
    auto told = words_of(labels);
    told.erase("le");
    EXPECT_EQ(told, words_of(info->labels)) << row;
  }
  EXPECT_GT(samples, 10);
}

TEST(Dashboard, asks_only_for_metrics_and_labels_that_there_are_and_for_each_metric) {
  const auto text = read_file(std::string(CLAWMARK_SOURCE_DIR) + "/deploy/grafana/clawmark.json");
  ASSERT_TRUE(text.ok());
  const auto parsed = parse_json(*text);
  ASSERT_TRUE(parsed.ok());
  std::set<std::string_view> asked;
  const std::regex name("clawmark_[a-z_]+"), by("by \\(([^)]*)\\)");
  for (const auto& panel : parsed->at("panels").as_array()) {
    for (const auto& target : panel.at("targets").as_array()) {
      const std::string expression = get_string(target.as_object(), "expr");
      std::set<std::string> labels{"le"};
      for (std::sregex_iterator at(expression.begin(), expression.end(), name), end; at != end;
           ++at) {
        const MetricInfo* info = info_of(at->str());
        ASSERT_NE(info, nullptr) << expression;
        asked.insert(info->name);
        labels.merge(words_of(info->labels));
        const bool rated = expression.find("rate(") != expression.npos ||
                           expression.find("increase(") != expression.npos;
        EXPECT_EQ(rated, info->type != "gauge") << expression;
      }
      for (std::sregex_iterator at(expression.begin(), expression.end(), by), end; at != end;
           ++at) {
        for (const auto& label : words_of((*at)[1].str()))
          EXPECT_TRUE(labels.contains(label)) << expression;
      }
      const std::string legend = get_string(target.as_object(), "legendFormat");
      const std::regex braces("\\{\\{([a-z]+)\\}\\}");
      for (std::sregex_iterator at(legend.begin(), legend.end(), braces), end; at != end; ++at) {
        EXPECT_TRUE(labels.contains((*at)[1].str())) << legend << " of " << expression;
      }
    }
  }
  EXPECT_EQ(asked.size(), metric_table().size()) << "every metric is on the dashboard";
}

}  // namespace
}  // namespace clawmark
