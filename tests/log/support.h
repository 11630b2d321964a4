#pragma once
// A store in a folder of its own, and events to fill it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "log/store.h"

namespace clawmark {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "clawmark-log-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << describe(result.error());
    std::abort();
  }
  return std::move(result).value();
}

inline NewEvent make_event(const std::string& key, const std::string& text = "hello") {
  NewEvent event;
  event.type = "fact.stated";
  event.scope = {"main", "agent:main:telegram:direct:101", Lane::kDirect, "telegram:101"};
  event.dedupe_key = key;
  event.occurred = {1'795'000'000'000};
  event.payload["value"] = text;
  return event;
}

inline Store open_store(const std::string& path, const Clock& clock) {
  StoreOptions options;
  options.path = path;
  options.holder = "test pid " + std::to_string(::getpid());
  return must(Store::open(options, clock));
}

inline Appended append(Store& store, std::vector<NewEvent> events) {
  auto txn = must(Transaction::begin(store.db()));
  auto out = must(store.log().append(txn, events));
  must(txn.commit());
  return out;
}

inline void append_count(Store& store, int count, const std::string& prefix = "k") {
  std::vector<NewEvent> events;
  for (int i = 0; i < count; ++i) events.push_back(make_event(prefix + std::to_string(i)));
  append(store, std::move(events));
}

}  // namespace clawmark
