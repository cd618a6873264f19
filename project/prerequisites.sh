#!/usr/bin/env bash
# Lists missing prerequisites, one per line, with what to install.
missing=0
lacks() {
  echo "Missing: $1" >&2
  missing=1
}

java_version=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
case "$java_version" in
  17) ;;
  "") lacks "a JDK. Install JDK 17 (Debian: openjdk-17-jdk-headless) and put its java on the PATH" ;;
  *) lacks "a JDK 17: java on the PATH is version $java_version. Install JDK 17 (Debian: openjdk-17-jdk-headless)" ;;
esac

if [ -n "$LAUNCHER" ] && [ ! -f "$LAUNCHER" ] && ! command -v mvn >/dev/null; then
  lacks "sbt or Maven, to build the connector. Install either (Debian: maven)"
fi

if ! command -v "$PYTHON" >/dev/null; then
  lacks "$PYTHON. Install Python 3.9 to 3.12 with venv (Debian: python3-venv), or name one: make PYTHON=python3.11"
elif ! "$PYTHON" -c 'import sys; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 12))'; then
  lacks "Python 3.9 to 3.12: $PYTHON is $("$PYTHON" -V 2>&1). Name another: make PYTHON=python3.11"
elif ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
  lacks "Python's venv module. Install it (Debian: python3-venv)"
fi
exit $missing
