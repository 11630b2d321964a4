#include "sources/source_resolver.h"

#include <algorithm>

namespace clawmark {

std::vector<std::optional<std::string>> SourceResolver::resolve(
    std::span<const TextRequest> requests) {
  std::vector<std::optional<std::string>> out(requests.size());
  std::size_t rounds = 0;
  for (const auto& request : requests) rounds = std::max(rounds, request.sightings.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (auto& open : sources_) {
      std::vector<MessageSource::Wanted> wanted;
      std::vector<std::size_t> index;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto& request = requests[i];
        if (out[i] || round >= request.sightings.size()) continue;
        const auto& sighting = request.sightings[round];
        const bool same_agent = open.agent.empty() || open.agent == request.agent;
        if (sighting.carrier != open.source->carrier() || !same_agent) continue;
        wanted.push_back({sighting.stream, sighting.place, request.entry_id, request.hash});
        index.push_back(i);
      }
      if (wanted.empty()) continue;
      auto texts = open.source->bodies(wanted);
      for (std::size_t k = 0; k < index.size() && k < texts.size(); ++k) {
        if (texts[k] && sha256(*texts[k]) == requests[index[k]].hash) {
          out[index[k]] = std::move(texts[k]);
        }
      }
    }
  }
  return out;
}

}  // namespace clawmark
