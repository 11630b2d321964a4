#pragma once
// Summaries: whether one may stand for what it summarises, the cut that always can, and the call
// that makes one of several.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"

namespace clawmark {

// About: a token is four characters of English.
std::size_t tokens_of(std::string_view text);

// Why a summary of at most `tokens_max` tokens is not to be kept: "empty", "refusal", "json",
// "too_long", "no_gain" (not shorter than a source that is worth shortening), "repeats",
// "made_up" (an identifier that does not stand in the source). Empty: it is fine.
std::string check_summary(std::string_view summary, std::string_view source,
                          std::size_t tokens_max);

// The beginning of each text, with a marker where something is left out; all of them within
// `chars_max` characters. The same texts give the same cut, always.
std::string cut_summary(std::span<const std::string> texts, std::size_t chars_max);

struct SummaryAnswer {
  std::string text;
  bool cut = false;
  Usage usage;
};

class Summarizer {
 public:
  virtual ~Summarizer() = default;
  virtual std::string model() const = 0;
  virtual std::string prompt_version() const = 0;
  // `texts`: summaries in order of time. `depth` of what is asked for: 1 of leaves. `shorter`: the
  // last answer was no good.
  virtual HttpRequest plan(std::span<const std::string> texts, int depth, bool shorter) const = 0;
  virtual Result<SummaryAnswer> interpret(const Result<HttpResponse>& response) const = 0;
};

std::unique_ptr<Summarizer> make_endpoint_summarizer(const EndpointOptions& options);

}  // namespace clawmark
