#!/usr/bin/env bash
# Installs the sections of docker/packages.txt that are named: scripts/packages.sh start test. Installed ones are left alone.
set -euo pipefail

# The packages of the sections, one a line.
packages_of() {
  awk -v wanted=" $* " '
    { sub(/#.*/, ""); gsub(/[ \t]+/, "") }
    /^\[.*\]$/ { take = index(wanted, " " substr($0, 2, length($0) - 2) " "); next }
    take && length($0)' docker/packages.txt
}

# Those of the packages on standard input that dpkg does not hold installed, on one line.
missing_of() {
  local present
  present=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' 2> /dev/null | awk '$2 == "installed" { print $1 }')
  awk -v present="$present" '
    BEGIN { count = split(present, names, "\n"); for (i = 1; i <= count; i++) have[names[i]] = 1 }
    !($1 in have) { printf "%s%s", gap, $1; gap = " " }'
}

# Runs a command as root; sudo may ask for a password on the terminal.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

install_sections() {
  local missing have_lists="" list
  missing=$(packages_of "$@" | missing_of)
  if [ -z "$missing" ]; then
    return 0
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo > /dev/null; then
    echo "these packages are missing and neither root nor sudo is at hand; as root, run:"
    echo "  apt-get install $missing"
    return 1
  fi
  for list in /var/lib/apt/lists/*_Packages*; do
    [ -s "$list" ] && have_lists=yes
  done
  [ -n "$have_lists" ] || as_root apt-get update
  # shellcheck disable=SC2086  # a list of words
  set -- env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
  # Lists that are there may be older than the archive: only then are they fetched again.
  as_root "$@" || { as_root apt-get update && as_root "$@"; }
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  cd "$(dirname "$0")/.."
  install_sections "$@"
fi
