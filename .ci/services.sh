# PostgreSQL, MySQL/MariaDB and Redis for .ci/run: those that run already, else private ones that end with the script.
# Sets PGHOST, PGPORT, PGUSER, MYSQL_HOST, MYSQL_PORT, MYSQL_USER and A2A_TEST_REDIS_URL.

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

# A server that runs already is used if it takes files as large as the tests send.
start_mysql() {
    export MYSQL_HOST="${MYSQL_HOST:-127.0.0.1}" MYSQL_PORT="${MYSQL_PORT:-3306}" MYSQL_USER="${MYSQL_USER:-root}"
    need mysql mariadb-client
    if [ "$(ask_mysql 'SELECT @@max_allowed_packet >= 64 * 1024 * 1024')" = 1 ]; then return; fi
    need mariadbd mariadb-server
    MYSQL_DIR=$(mktemp -d /tmp/a2a-mysql-XXXXXX)
    chown mysql "$MYSQL_DIR"
    export MYSQL_HOST=127.0.0.1 MYSQL_USER=root MYSQL_PASSWORD=
    MYSQL_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    mariadb-install-db --no-defaults --user=mysql --datadir="$MYSQL_DIR/data" --skip-test-db \
        --auth-root-authentication-method=normal >/dev/null 2>&1
    mariadbd --no-defaults --user=mysql --datadir="$MYSQL_DIR/data" --socket="$MYSQL_DIR/socket" \
        --port="$MYSQL_PORT" --bind-address=127.0.0.1 --max-allowed-packet=64M \
        --innodb-flush-log-at-trx-commit=0 >"$MYSQL_DIR/log" 2>&1 &
    MYSQL_PID=$!
    for _ in $(seq 100); do
        [ "$(ask_mysql 'SELECT 1')" = 1 ] && return
        sleep 0.1
    done
    cat "$MYSQL_DIR/log" >&2
    return 1
}

ask_mysql() {
    MYSQL_PWD="${MYSQL_PASSWORD:-}" mysql --no-defaults --protocol=tcp --host="$MYSQL_HOST" --port="$MYSQL_PORT" \
        --user="$MYSQL_USER" --skip-column-names --silent --execute "$1" 2>/dev/null || true
}

need_mysqlclient() { # need_mysqlclient PYTHON: what the package mysqlclient is compiled with, unless it is there
    "$1" -c 'import MySQLdb' 2>/dev/null && return
    need gcc build-essential
    need pkg-config pkg-config
    pkg-config --exists libmariadb || need libmariadb libmariadb-dev
    "$1" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
        need Python.h python3-dev
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
    if [ -n "${MYSQL_PID:-}" ]; then kill "$MYSQL_PID" 2>/dev/null && wait "$MYSQL_PID" || true; fi
    if [ -n "${MYSQL_DIR:-}" ]; then rm -rf "$MYSQL_DIR"; fi
    if [ -n "${REDIS_PID:-}" ]; then kill "$REDIS_PID" 2>/dev/null || true; fi
    if [ -n "${POSTGRES_STOP:-}" ]; then $POSTGRES_STOP >/dev/null 2>&1 || true; rm -rf "$POSTGRES_DIR"; fi
}
