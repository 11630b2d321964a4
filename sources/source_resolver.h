#pragma once
// Finds the raw text of messages in the carriers where they were seen: the body resolver behind the
// log, over plain structs, so that sources/ need not know the log.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "sources/source.h"

namespace clawmark {

struct Sighting {
  std::string carrier, stream, place;  // as in StreamInfo and Entry
};

struct TextRequest {
  std::string agent;
  std::string entry_id;
  Hash256 hash;  // of the raw text: only a text with this hash is given
  std::vector<Sighting> sightings;
};

class SourceResolver {
 public:
  explicit SourceResolver(std::vector<OpenSource> sources) : sources_(std::move(sources)) {}

  // Texts in the order asked, tried sighting by sighting, each carrier asked once per round for
  // all; nullopt where none has it any more. Never an error: what cannot be read now cannot be
  // given now.
  std::vector<std::optional<std::string>> resolve(std::span<const TextRequest> requests);

 private:
  std::vector<OpenSource> sources_;
};

}  // namespace clawmark
