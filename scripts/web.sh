# Node and the dashboard's build. Sourced after steps.sh and packages.sh, from the repository root.
# shellcheck shell=bash

# Whether the PATH's Node and npm build the dashboard: Vite wants Node 20.19 or 22.12, its native parts npm 11.
node_is_recent() {
  local node npm
  node=$(node --version 2> /dev/null) && npm=$(npm --version 2> /dev/null) || return 1
  printf '%s %s\n' "${node#v}" "$npm" | awk '{
    split($1, node, "."); split($2, npm, ".")
    enough = node[1] > 22 || (node[1] == 22 && node[2] >= 12) || (node[1] == 20 && node[2] >= 19)
    exit !(enough && npm[1] >= 11) }'
}

# The packages that hold the files of node@22: its own script, which would pick one, fails where /proc is not mounted.
install_recent_node() {
  local machine
  case $(uname -m) in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) echo "Node 22 is on npm for x86_64 and aarch64, not for $(uname -m)" && return 1 ;;
  esac
  mkdir -p .tools
  printf '{"private": true}\n' > .tools/package.json
  npm install --prefix .tools --ignore-scripts --no-audit --no-fund "node-linux-$machine@22" npm@11
}

# Leaves a recent node and npm first on the PATH.
ensure_node() {
  node_is_recent && return 0
  PATH="$PWD/.tools/node_modules/.bin:$PATH"
  node_is_recent && return 0
  if ! command -v node > /dev/null || ! command -v npm > /dev/null; then
    step packages-node "installing Debian's Node and npm" install_sections node
  fi
  step node "installing Node 22 and npm 11 into .tools/" install_recent_node
  hash -r
  node_is_recent || fail "node $(node --version) and npm $(npm --version) of .tools/ are older than expected"
}

# One hash over what the dashboard is built from, and over the Node that builds it.
web_sources_hash() {
  {
    node --version
    find web \( -name node_modules -o -path web/dist -o -path web/e2e -o -name '*.tsbuildinfo' \) -prune -o -type f -print0 |
      LC_ALL=C sort -z | xargs -0 sha256sum
  } | sha256sum
}

lock_hash() { { node --version && sha256sum web/package-lock.json; } | sha256sum; }

# Whether a stamp holds this hash.
stamped() { [ -f "build/stamps/$1" ] && [ "$(cat "build/stamps/$1")" = "$2" ]; }

# npm ci and the build, each only when what it depends on changed since it last succeeded.
build_web() {
  local hash
  mkdir -p build/stamps
  hash=$(lock_hash)
  if ! { [ -d web/node_modules ] && stamped npm-ci "$hash"; }; then
    rm -f build/stamps/npm-ci
    step npm-ci "installing the dashboard's packages (npm ci)" npm --prefix web ci --no-audit --no-fund
    echo "$hash" > build/stamps/npm-ci
  fi
  if ! { [ -f web/dist/index.html ] && stamped web "$(web_sources_hash)"; }; then
    rm -f build/stamps/web
    step web "building the dashboard" npm --prefix web run build
    web_sources_hash > build/stamps/web
  fi
}
