# PostgreSQL and Redis for .ci/run: those that run already, else private ones that end with the script.
# Sets PGHOST, PGPORT, PGUSER and A2A_TEST_REDIS_URL.

need() { # need COMMAND PACKAGE: install the Debian package when the command is missing
    command -v "$1" >/dev/null && return
    apt-get update -q >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -qy "$2" >/dev/null
}

start_postgres() {
    export PGHOST="${PGHOST:-127.0.0.1}" PGPORT="${PGPORT:-5432}" PGUSER="${PGUSER:-postgres}"
    need psql postgresql
    if psql -qAt -d postgres -c 'SELECT 1' >/dev/null 2>&1; then return; fi
    local bin
    bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    if [ -z "$bin" ]; then
        need initdb postgresql
        bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    fi
    POSTGRES_DIR=$(mktemp -d /tmp/a2a-postgres-XXXXXX)
    chown postgres "$POSTGRES_DIR"
    export PGHOST=127.0.0.1 PGPORT=55432 PGUSER=postgres
    runuser -u postgres -- "$bin/initdb" -D "$POSTGRES_DIR/data" -A trust >/dev/null
    runuser -u postgres -- "$bin/pg_ctl" -D "$POSTGRES_DIR/data" -w -l "$POSTGRES_DIR/log" \
        -o "-p $PGPORT -k $POSTGRES_DIR -c listen_addresses=127.0.0.1 -c fsync=off" start >/dev/null
    POSTGRES_STOP="runuser -u postgres -- $bin/pg_ctl -D $POSTGRES_DIR/data -m immediate stop"
}

start_redis() {
    export A2A_TEST_REDIS_URL="${A2A_TEST_REDIS_URL:-redis://127.0.0.1:6379/0}"
    need redis-server redis-server
    if [ "$(redis-cli -u "$A2A_TEST_REDIS_URL" ping 2>/dev/null)" = PONG ]; then return; fi
    export A2A_TEST_REDIS_URL=redis://127.0.0.1:56379/0
    redis-server --port 56379 --bind 127.0.0.1 --save '' --appendonly no >/dev/null &
    REDIS_PID=$!
    for _ in $(seq 50); do
        [ "$(redis-cli -u "$A2A_TEST_REDIS_URL" ping 2>/dev/null)" = PONG ] && return
        sleep 0.1
    done
    echo "Redis did not start" >&2
    return 1
}

stop_services() {
    if [ -n "${REDIS_PID:-}" ]; then kill "$REDIS_PID" 2>/dev/null || true; fi
    if [ -n "${POSTGRES_STOP:-}" ]; then $POSTGRES_STOP >/dev/null 2>&1 || true; rm -rf "$POSTGRES_DIR"; fi
}
