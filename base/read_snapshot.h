#pragma once
// Several reads of one state, with one lock instead of one per statement.

#include "base/result.h"
#include "base/sqlite.h"

namespace clawmark {

// Ends with its owner. Not to be held while a source or a model is asked.
class ReadSnapshot {
 public:
  // Begins one; none when the connection is in a transaction already, or when it cannot be had.
  explicit ReadSnapshot(Database& db);
  ~ReadSnapshot();
  ReadSnapshot(const ReadSnapshot&) = delete;
  ReadSnapshot& operator=(const ReadSnapshot&) = delete;

 private:
  Database& db_;
  bool begun_;
};

}  // namespace clawmark
