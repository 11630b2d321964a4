// The engine's rooted handles keep addresses of locals by design.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif

#include "cmd/clawmark-repl/engine.h"

#include <js/Array.h>
#include <js/CallAndConstruct.h>
#include <js/CompilationAndEvaluation.h>
#include <js/Conversions.h>
#include <js/ErrorReport.h>
#include <js/Exception.h>
#include <js/Initialization.h>
#include <js/Interrupt.h>
#include <js/JSON.h>
#include <js/Object.h>
#include <js/Promise.h>
#include <js/PropertyAndElement.h>
#include <js/SavedFrameAPI.h>
#include <js/SourceText.h>
#include <jsapi.h>
#include <jsfriendapi.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "cmd/clawmark-repl/frames.h"
#include "cmd/clawmark-repl/prelude.h"
#include "cmd/clawmark-repl/sandbox.h"

namespace clawmark::repl {
namespace {

constexpr std::size_t kOutputBytes = std::size_t{64} << 10;  // what is beyond is not kept
constexpr int kPrintsLostMax = 1'000;  // so many prints beyond it, and the code is stopped
constexpr char kEndless[] = "the code prints without end";
constexpr char kCodeName[] = "code";  // as a source, beside the prelude
constexpr int kFramesMax = 200;       // looked at for the line of an error
constexpr std::size_t kFinalBytes = std::size_t{256} << 10;
constexpr int kTickMs = 50;  // of processor time, between two looks at the limit

// One engine, one run, one thread: what signals and natives see.
JSContext* g_context = nullptr;
Outcome* g_outcome = nullptr;
volatile std::sig_atomic_t g_ticks = 0;
int g_cpu_ms = kCpuMs;
std::uint32_t g_code_lines = 1;

std::string done_frame(const Outcome& outcome) {
  std::string out = R"({"type":"done","output":)" + quoted(outcome.output);
  out += std::string(",\"cut\":") + (outcome.output_cut ? "true" : "false");
  out += ",\"final\":" + (outcome.final_json.empty() ? "null" : quoted(outcome.final_json));
  out += ",\"error\":" + quoted(outcome.error);
  return out + ",\"stopped\":" + (outcome.stopped ? "true" : "false") + "}";
}

void on_tick(int) {
  g_ticks = g_ticks + 1;
  if (g_context != nullptr) JS_RequestInterruptCallback(g_context);
}

// Asked between two steps of a script. Once its time is over the process ends here: nothing in it
// could be trusted to end by itself.
bool on_interrupt(JSContext*) {
  if (g_ticks * kTickMs < g_cpu_ms) return true;
  if (g_outcome != nullptr) {
    g_outcome->stopped = true;
    g_outcome->error =
        "stopped: the code ran for more than " + std::to_string(g_cpu_ms) + " ms of processor time";
    write_frame(done_frame(*g_outcome));
  }
  ::_exit(0);
}

std::string utf8_of(JSContext* cx, JS::HandleString text) {
  const JS::UniqueChars chars = JS_EncodeStringToUTF8(cx, text);
  return chars ? chars.get() : "";
}

bool append_json(const char16_t* chars, std::uint32_t length, void* into) {
  static_cast<std::u16string*>(into)->append(chars, length);
  return true;
}

bool throw_text(JSContext* cx, const std::string& message) {
  JS_ReportErrorUTF8(cx, "%s", message.c_str());
  return false;
}

bool parse(JSContext* cx, std::string_view text, JS::MutableHandleValue out) {
  JS::RootedString string(cx, JS_NewStringCopyUTF8N(cx, JS::UTF8Chars(text.data(), text.size())));
  return string && JS_ParseJSON(cx, string, out);
}

// host(name, parameters): asks the service and waits.
bool native_host(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  if (argc < 2) return throw_text(cx, "host: a name and parameters are needed");
  JS::RootedString name(cx, JS::ToString(cx, args[0]));
  if (!name) return false;
  JS::RootedValue value(cx, args[1]);
  std::u16string json16;
  if (!JS_Stringify(cx, &value, nullptr, JS::NullHandleValue, append_json, &json16)) return false;
  JS::RootedString json(cx, JS_NewUCStringCopyN(cx, json16.data(), json16.size()));
  if (!json) return false;
  const std::string call = R"({"type":"call","name":)" + quoted(utf8_of(cx, name)) +
                           ",\"params\":" + quoted(utf8_of(cx, json)) + "}";
  if (call.size() > kFrameMax) return throw_text(cx, "the parameters are too large");
  if (!write_frame(call)) ::_exit(2);
  const auto frame = read_frame();
  if (!frame) ::_exit(2);
  JS::RootedValue reply(cx);
  if (!parse(cx, *frame, &reply)) return false;
  if (!reply.isObject()) return throw_text(cx, "the service did not answer");
  JS::RootedObject object(cx, &reply.toObject());
  JS::RootedValue error(cx);
  if (!JS_GetProperty(cx, object, "error", &error)) return false;
  if (error.isString()) {
    JS::RootedString text(cx, error.toString());
    return throw_text(cx, utf8_of(cx, text));
  }
  return JS_GetProperty(cx, object, "value", args.rval());
}

bool prints_without_end(const Outcome& outcome) {
  return outcome.prints_lost > kPrintsLostMax;
}

bool native_emit(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  args.rval().setUndefined();
  if (argc < 1 || g_outcome == nullptr) return true;
  JS::RootedString text(cx, JS::ToString(cx, args[0]));
  if (!text) return false;
  std::string& output = g_outcome->output;
  // A text of megabytes is not made twice for a few thousand characters of it.
  if (output.size() >= kOutputBytes || JS::GetStringLength(text) > kOutputBytes) {
    g_outcome->output_cut = true;
    if (output.size() >= kOutputBytes) {
      // Without an exception: no script catches that.
      ++g_outcome->prints_lost;
      return !prints_without_end(*g_outcome);
    }
    text = JS_NewDependentString(cx, text, 0, kOutputBytes - output.size());
    if (!text) return false;
  }
  output += utf8_of(cx, text) + "\n";
  return true;
}

bool native_finish(JSContext* cx, unsigned argc, JS::Value* vp) {
  const JS::CallArgs args = JS::CallArgsFromVp(argc, vp);
  args.rval().setUndefined();
  if (argc < 1 || g_outcome == nullptr) return true;
  JS::RootedString text(cx, JS::ToString(cx, args[0]));
  if (!text) return false;
  if (JS::GetStringLength(text) > kFinalBytes)
    return throw_text(cx, "the final value is too large");
  g_outcome->final_json = utf8_of(cx, text);
  return true;
}

// The line of the code that the innermost of its own frames stands at; 0: there is none. What a
// frame of the prelude has to say is nothing that a script's author could look up.
std::uint32_t line_in_stack(JSContext* cx, JS::HandleObject innermost) {
  JS::RootedObject frame(cx, innermost);
  for (int depth = 0; frame && depth < kFramesMax; ++depth) {
    JS::RootedString source(cx);
    std::uint32_t line = 0;
    if (JS::GetSavedFrameSource(cx, nullptr, frame, &source) != JS::SavedFrameResult::Ok) return 0;
    if (utf8_of(cx, source) == kCodeName &&
        JS::GetSavedFrameLine(cx, nullptr, frame, &line) == JS::SavedFrameResult::Ok) {
      return line;
    }
    JS::RootedObject parent(cx);
    if (JS::GetSavedFrameParent(cx, nullptr, frame, &parent) != JS::SavedFrameResult::Ok) return 0;
    if (!parent &&
        JS::GetSavedFrameAsyncParent(cx, nullptr, frame, &parent) != JS::SavedFrameResult::Ok) {
      return 0;
    }
    frame = parent;
  }
  return 0;
}

std::uint32_t line_of(JSContext* cx, const JS::ExceptionStack& stack, const JSErrorReport* report) {
  JS::RootedObject frames(cx);
  if (stack.exception().isObject()) {
    JS::RootedObject thrown(cx, &stack.exception().toObject());
    frames = JS::ExceptionStackOrNull(thrown);
  }
  if (frames) {
    if (const std::uint32_t line = line_in_stack(cx, frames)) return line;
  }
  const bool names_code = report != nullptr && report->filename != nullptr &&
                          std::strcmp(report->filename, kCodeName) == 0;
  return names_code ? report->lineno : 0;
}

// Takes the pending exception as text; the context goes on. What stands behind the last line of
// the code is ours, so an error there is the last line's.
std::string pending_error(JSContext* cx) {
  JS::ExceptionStack stack(cx);
  if (!JS_IsExceptionPending(cx) || !JS::StealPendingExceptionStack(cx, &stack)) {
    return "the code was stopped";
  }
  JS::ErrorReportBuilder report(cx);
  if (!report.init(cx, stack, JS::ErrorReportBuilder::NoSideEffects)) {
    JS_ClearPendingException(cx);
    return "the code failed";
  }
  std::string out = report.toStringResult().c_str();
  if (const std::uint32_t line = line_of(cx, stack, report.report())) {
    out += " (line " + std::to_string(std::min(line, g_code_lines)) + ")";
  }
  return out;
}

bool evaluate(JSContext* cx, const std::string& source, const char* name,
              JS::MutableHandleValue out) {
  JS::SourceText<mozilla::Utf8Unit> text;
  if (!text.init(cx, source.data(), source.size(), JS::SourceOwnership::Borrowed)) return false;
  JS::CompileOptions options(cx);
  options.setFileAndLine(name, 0);  // the first line of the code is the second of the source
  return JS::Evaluate(cx, options, text, out);
}

}  // namespace

struct Engine::State {
  JSContext* context = nullptr;
  std::unique_ptr<JS::PersistentRootedObject> global;
  std::unique_ptr<JS::PersistentRootedObject> unhandled;  // the first rejected promise of a run

  bool make_world();
};

namespace {

// Told of each promise that is rejected without a handler, and of each that gets one after all.
void on_rejection(JSContext*, bool, JS::HandleObject promise,
                  JS::PromiseRejectionHandlingState state, void* data) {
  auto& first = *static_cast<JS::PersistentRootedObject*>(data);
  if (state == JS::PromiseRejectionHandlingState::Unhandled) {
    if (!first) first = promise;
  } else if (first == promise) {
    first = nullptr;
  }
}

}  // namespace

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::~Engine() = default;  // the process ends instead

std::unique_ptr<Engine> Engine::start() {
  JS::DisableJitBackend();
  if (!JS_Init()) return nullptr;
  auto state = std::make_unique<State>();
  state->context = JS_NewContext(static_cast<std::uint32_t>(kHeapBytes));
  JSContext* cx = state->context;
  if (cx == nullptr || !js::UseInternalJobQueues(cx) || !JS::InitSelfHostedCode(cx)) return nullptr;
  JS_SetGCParameter(cx, JSGC_MAX_BYTES, static_cast<std::uint32_t>(kHeapBytes));
  JS_SetNativeStackQuota(cx, kStackBytes);
  JS_AddInterruptCallback(cx, on_interrupt);
  static const JSClass kGlobal = {
      "global", JSCLASS_GLOBAL_FLAGS, &JS::DefaultGlobalClassOps, nullptr, nullptr, nullptr};
  const JS::RealmOptions options;
  JS::RootedObject global(
      cx, JS_NewGlobalObject(cx, &kGlobal, nullptr, JS::FireOnNewGlobalHook, options));
  if (!global) return nullptr;
  state->global = std::make_unique<JS::PersistentRootedObject>(cx, global);
  state->unhandled = std::make_unique<JS::PersistentRootedObject>(cx, nullptr);
  JS::SetPromiseRejectionTrackerCallback(cx, on_rejection, state->unhandled.get());
  if (!state->make_world()) return nullptr;
  g_context = cx;
  struct sigaction action = {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPROF, &action, nullptr);
  const itimerval every{{0, kTickMs * 1000}, {0, kTickMs * 1000}};
  ::setitimer(ITIMER_PROF, &every, nullptr);
  return std::unique_ptr<Engine>(new Engine(std::move(state)));
}

bool Engine::State::make_world() {
  JSContext* cx = context;
  const JSAutoRealm realm(cx, *global);
  if (!JS::InitRealmStandardClasses(cx)) return false;
  JS::RootedValue made(cx), ignored(cx);
  if (!evaluate(cx, kPrelude, "prelude", &made)) return false;
  JS::RootedValueVector natives(cx);
  for (const auto& [name, native] : {std::pair<const char*, JSNative>{"host", native_host},
                                     std::pair<const char*, JSNative>{"emit", native_emit},
                                     std::pair<const char*, JSNative>{"finish", native_finish}}) {
    JSFunction* function = JS_NewFunction(cx, native, 2, 0, name);
    if (function == nullptr || !natives.append(JS::ObjectValue(*JS_GetFunctionObject(function)))) {
      return false;
    }
  }
  return JS_CallFunctionValue(cx, *global, made, natives, &ignored);
}

Outcome Engine::run(std::string_view code) {
  JSContext* cx = state_->context;
  const JSAutoRealm realm(cx, *state_->global);
  Outcome outcome;
  g_ticks = 0;
  g_outcome = &outcome;
  *state_->unhandled = nullptr;
  JS::RootedValue value(cx);
  g_code_lines = 1 + static_cast<std::uint32_t>(std::count(code.begin(), code.end(), '\n'));
  const std::string source = "(async () => {\n" + std::string(code) + "\n})()";
  if (!evaluate(cx, source, kCodeName, &value)) {
    outcome.error = prints_without_end(outcome) ? kEndless : pending_error(cx);
    g_outcome = nullptr;
    return outcome;
  }
  js::RunJobs(cx);
  if (value.isObject()) {
    JS::RootedObject promise(cx, &value.toObject());
    if (JS::IsPromiseObject(promise)) {
      const auto state = JS::GetPromiseState(promise);
      if (state == JS::PromiseState::Rejected) {
        JS::RootedValue reason(cx, JS::GetPromiseResult(promise));
        JS_SetPendingException(cx, reason);
        outcome.error = pending_error(cx);
      } else if (state == JS::PromiseState::Pending) {
        outcome.error = prints_without_end(outcome)
                            ? kEndless
                            : "the code waits for something that never comes";
      }
    }
  }
  JS::RootedObject lost(cx, *state_->unhandled);
  if (outcome.error.empty() && lost) {
    JS::RootedValue reason(cx, JS::GetPromiseResult(lost));
    JS_SetPendingException(cx, reason);
    outcome.error = "a promise was rejected and nothing handled it: " + pending_error(cx);
  }
  g_outcome = nullptr;
  return outcome;
}

bool Engine::finish(const Outcome& outcome) {
  return write_frame(done_frame(outcome));
}

bool Engine::read_code(std::string& code) {
  const auto frame = read_frame();
  if (!frame) return false;
  JSContext* cx = state_->context;
  const JSAutoRealm realm(cx, *state_->global);
  JS::RootedValue parsed(cx), value(cx);
  if (!parse(cx, *frame, &parsed) || !parsed.isObject()) return false;
  JS::RootedObject object(cx, &parsed.toObject());
  if (!JS_GetProperty(cx, object, "code", &value) || !value.isString()) return false;
  JS::RootedString text(cx, value.toString());
  code = utf8_of(cx, text);
  if (!JS_GetProperty(cx, object, "cpu_ms", &value)) return false;
  if (value.isInt32() && value.toInt32() > 0) g_cpu_ms = std::min(kCpuMs, value.toInt32());
  return true;
}

}  // namespace clawmark::repl
