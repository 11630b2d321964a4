#include "base/utf8.h"
#include "sources/lcm_source.h"
#include "tests/fuzz/targets.h"
#include "tests/support/store_builder.h"

namespace clawmark::fuzz {
namespace {

struct Lcm {
  Lcm() : writer(dir / "lcm.db"), source(writer.path(), dir / "lcm-files", {}, clock) {
    writer.db().exec("PRAGMA synchronous=OFF");
    support::MakeOptions make;
    make.messages = 6;
    make.long_texts = false;
    writer.write(make_conversation(make));
    stream = source.streams().value().front();
  }
  ManualClock clock;
  support::TempDir dir;
  support::LcmWriter writer;
  LcmSource source;
  StreamInfo stream;
};

support::Value value_of(std::string_view data, unsigned char kind) {
  if (kind % 5 == 0) return nullptr;
  if (kind % 5 == 1) return support::Blob{std::string(data)};
  if (kind % 5 == 2 && !data.empty()) return static_cast<std::int64_t>(data[0]) << (kind / 5);
  return std::string(data);
}

}  // namespace

// A row of another shape, and a position that nobody wrote; then the row as it was.
void fuzz_lcm(std::string_view data) {
  static Lcm lcm;
  if (data.size() < 2) return;
  const auto pick = static_cast<unsigned char>(data[0]), kind = static_cast<unsigned char>(data[1]);
  const std::string_view rest = data.substr(2);
  constexpr const char* kCells[] = {"messages SET content",
                                    "messages SET created_at",
                                    "messages SET role",
                                    "message_parts SET metadata",
                                    "message_parts SET text_content",
                                    "message_parts SET tool_name",
                                    "conversations SET session_key",
                                    "conversations SET archive_cause"};
  auto& db = lcm.writer.db();
  db.exec("BEGIN");
  try {
    db.run(std::string("UPDATE ") + kCells[pick % std::size(kCells)] + " = ?1 WHERE rowid <= 3",
           {value_of(rest, kind)});
    db.exec("COMMIT");
  } catch (const std::runtime_error&) {  // the host's own constraints
    db.exec("ROLLBACK");
  }
  StreamPosition after;
  if (pick >= 128) {
    after.position = std::string(rest.substr(0, rest.size() / 2));
    after.anchor = std::string(rest.substr(rest.size() / 2));
  }
  if (pick % 16 == 0) {
    (void)lcm.source.validate();
    (void)lcm.source.streams();
  }
  const auto batch = lcm.source.read(lcm.stream, after, 100);
  if (batch.ok()) {
    for (const Entry& entry : batch->entries) {
      require(is_valid_utf8(entry.text), "the text of an entry is UTF-8");
      const MessageSource::Wanted wanted{lcm.stream.key, entry.place, entry.entry_id};
      (void)lcm.source.bodies({&wanted, 1});
    }
  }
}

}  // namespace clawmark::fuzz
