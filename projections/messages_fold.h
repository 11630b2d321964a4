#pragma once
// One batch of the messages fold. Inside projections/ only.

#include <optional>
#include <string>
#include <vector>

#include "log/event.h"
#include "projections/standing.h"
#include "projections/tables.h"

namespace clawmark {

class MessagesFold {
 public:
  MessagesFold(Database& db, int generation)
      : tables_(db, "message", generation), ledger_(tables_) {}

  static std::string_view ddl();
  static std::string_view views();
  static std::string_view drop();

  Status fold(const Event& event);
  Result<bool> touched_by(Seq event);

 private:
  // What the audience and recallability of a message are made from.
  struct Place {
    Seq seq;
    std::string agent, session_id, session_key, lane, sender, role, entry_class, noise, audience;
    std::optional<Seq> parent;
    TimeMs occurred;
    bool person = false, rootless = false;
  };

  Status observed(const Event& event);
  Status insert_message(const Event& event, const Place& place);
  Status sighted(const Event& event);
  Status adopt_key(Seq message, const Event& sighting);
  Status count_in_session(const Event& event, std::string_view session_id,
                          std::string_view session_key);
  Status note_person(const Event& event);
  Status marked(const Event& event);
  Status forgotten(const Event& event);
  Status restand(const std::vector<Seq>& messages);

  Result<std::optional<Place>> place_of(Seq seq);
  Result<std::string> audience_of(const Place& place);
  Status set_audience(const Place& place);
  Status readdress_followers(const Place& person);
  Result<bool> is_recallable(const Place& place);

  Tables tables_;
  StandingLedger ledger_;
};

}  // namespace clawmark
