#pragma once
// Recognises secrets in text and puts placeholders in their place, so that the sentence stays
// useful: "export DEPLOY_TOKEN=[secret:token]". Applied before anything is stored, indexed, sent or
// logged.

#include <cstddef>
#include <string>
#include <string_view>

namespace clawmark {

// Kinds: key and token prefixes of known vendors, assignments of secret-named variables, passwords
// in words
// ("the db password is …"), credentials in URLs, Authorization headers, PEM private keys, JWTs,
// card numbers (Luhn). Idempotent. Counts ("my token budget is 3000") stay.
std::string redact_secrets(std::string_view text);
// The same; `found` grows by the number of secrets replaced.
std::string redact_secrets(std::string_view text, std::size_t& found);
bool holds_secret(std::string_view text);
// A name whose value is a secret whatever it looks like: "user.db_password", "DEPLOY_TOKEN".
bool names_secret(std::string_view name);
// A fact's key with a secret in its words, which '.' and '_' join and lower case may have changed:
// "user.tok_live_…", "project.password.hunter2". A bare name ("user.db_password") holds none.
bool key_holds_secret(std::string_view key);

}  // namespace clawmark
