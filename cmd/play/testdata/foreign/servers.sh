#!/bin/sh
# Start a MariaDB, a PostgreSQL and a Redis with everything in the folder $1, print
# "ready" and Redis's port, and end them when standard input ends.
set -eu
root=$1
log=$root/servers.log
exec 3>&1 >"$log" 2>&1
chmod 0777 "$root"
mkdir "$root/mysql" "$root/pg"
as=
if [ "$(id -u)" = 0 ]; then
  chown postgres "$root/pg"
  as='runuser -u postgres --'
fi
pg=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
pids=
trap 'kill $pids; wait' EXIT
mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$root/mysql" --auth-root-authentication-method=normal --skip-test-db
mariadbd --no-defaults --user="$(id -un)" --datadir="$root/mysql" --socket="$root/m.sock" --skip-networking --pid-file="$root/m.pid" </dev/null &
pids="$pids $!"
cd "$root/pg"
$as "$pg/initdb" -N -D "$root/pg" -U ops -A trust --locale=C.UTF-8 -E UTF8
$as "$pg/postgres" -D "$root/pg" -k "$root" -c listen_addresses= -c fsync=off </dev/null &
pids="$pids $!"
while :; do
  port=$(shuf -n 1 -i 20000-32000)
  redis-server --port "$port" --bind 127.0.0.1 --dir "$root" --save '' --pidfile "$root/r.pid" </dev/null &
  redis=$!
  while kill -0 $redis && ! redis-cli -p "$port" ping; do sleep 0.2; done
  if kill -0 $redis; then break; fi
done
pids="$pids $redis"
until "$pg/pg_isready" -h "$root" && mariadb-admin --no-defaults --socket="$root/m.sock" -u root ping; do sleep 0.2; done
echo "ready $port" >&3
exec 3>&-
cat
