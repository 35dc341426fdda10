#!/usr/bin/env bash
# Starts a farm on this machine and runs until it is interrupted: a private RabbitMQ and Redis on free ports, a coordinator and two
# workers. Everything that it keeps is in one folder, and every process that it starts ends with it.
#
#   bash tests/farm-up.sh [FOLDER]     (default: farm-data)
set -euo pipefail
cd "$(dirname "$0")/.."
source tests/services.sh

mkdir -p "${1:-farm-data}"
folder="$(cd "${1:-farm-data}" && pwd)"
mkdir -p "$folder"/{rabbit,redis,store,log}
processes=()
stop() { # EXIT-CODE
  trap - EXIT INT TERM
  # The coordinator first, so that it stops offering; the workers finish what they have.
  for ((index = ${#processes[@]} - 1; index >= 0; index--)); do kill "${processes[index]}" 2>/dev/null || true; done
  for process in "${processes[@]}"; do wait "$process" 2>/dev/null || true; done
  "${rabbit_environment[@]}" epmd -kill >/dev/null 2>&1 || true
  echo "the farm is down; its data stays in $folder"
  exit "$1"
}

# Three free ports in a row, none of them in use now.
free_port() {
  local port
  for port in $(shuf -i 20000-29990 -n 200); do
    for next in "$port" $((port + 1)) $((port + 2)); do
      if (exec 3<>"/dev/tcp/127.0.0.1/$next") 2>/dev/null; then continue 2; fi
    done
    echo "$port"
    return
  done
  echo "error: no free port found" >&2
  return 1
}

await() { # WHAT LOGFILE PROCESS COMMAND…
  local what="$1" log="$2" process="$3"
  shift 3
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return; fi
    if ! kill -0 "$process" 2>/dev/null; then break; fi
    sleep 0.2
  done
  echo "error: $what did not start; the end of $log:" >&2
  tail -20 "$log" >&2
  exit 3
}

echo "building evalfarm, evalfarm-coordinator and evalfarm-worker"
cargo build --release --locked --quiet --bins -p evalfarm-cli -p evalfarm-coordinator -p evalfarm-worker \
  --features evalfarm-coordinator/farm,evalfarm-worker/farm
binaries="${CARGO_TARGET_DIR:-target}/release"

amqp="$(free_port)"
rabbit_environment=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME="$folder/rabbit" ERL_EPMD_PORT=$((amqp + 2))
  ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_NODENAME="evalfarm@localhost")
[ -f "$folder/rabbit/.erlang.cookie" ] || (umask 077 && head -c 24 /dev/urandom | base64 | tr -dc A-Za-z0-9 >"$folder/rabbit/.erlang.cookie")
echo '[].' >"$folder/rabbit/enabled_plugins"
echo '[].' >"$folder/rabbit/advanced.config"
printf 'listeners.tcp.1 = 127.0.0.1:%s\nlog.console = true\nlog.file = false\ndisk_free_limit.absolute = 50MB\n' "$amqp" \
  >"$folder/rabbit/rabbitmq.conf"
trap 'stop $?' EXIT
trap 'stop 0' INT TERM
# In the background a shell ignores Ctrl-C for its children, so that they end in the order that `stop` chooses.
"${rabbit_environment[@]}" RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_NODE_PORT="$amqp" RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 \
  RABBITMQ_DIST_PORT=$((amqp + 1)) RABBITMQ_MNESIA_BASE="$folder/rabbit/mnesia" RABBITMQ_LOG_BASE="$folder/rabbit" \
  RABBITMQ_PID_FILE="$folder/rabbit/pid" RABBITMQ_CONFIG_FILE="$folder/rabbit/rabbitmq.conf" \
  RABBITMQ_ADVANCED_CONFIG_FILE="$folder/rabbit/advanced.config" RABBITMQ_ENABLED_PLUGINS_FILE="$folder/rabbit/enabled_plugins" \
  RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}" \
  /usr/lib/rabbitmq/bin/rabbitmq-server >"$folder/log/rabbitmq" 2>&1 &
rabbit=$!
processes+=("$rabbit")
redis_port="$(free_port)"
redis-server --port "$redis_port" --bind 127.0.0.1 --dir "$folder/redis" --appendonly yes --maxmemory-policy noeviction \
  >"$folder/log/redis" 2>&1 &
redis=$!
processes+=("$redis")
await "Redis" "$folder/log/redis" "$redis" redis-cli -p "$redis_port" ping
await "RabbitMQ" "$folder/log/rabbitmq" "$rabbit" grep -q "completed with" "$folder/log/rabbitmq"

if [ ! -f "$folder/token" ]; then
  (umask 077 && head -c 32 /dev/urandom | base64 | tr -d '=+/\n' >"$folder/token")
fi
digest="$(sha256sum <"$folder/token" | cut -d' ' -f1)"
printf '[[credential]]\nname = "you"\nkind = "human"\nrole = "operator"\ntoken_sha256 = "%s"\n' "$digest" >"$folder/credentials.toml"

export EVALFARM_BROKER="amqp://guest:guest@127.0.0.1:$amqp/%2f" EVALFARM_REDIS="redis://127.0.0.1:$redis_port/"
export EVALFARM_STORE="file://$folder/store"
rm -f "$folder"/*.address
"$binaries/evalfarm-coordinator" --listen 127.0.0.1:0 --address-file "$folder/coordinator.address" \
  --credentials "$folder/credentials.toml" --data "$folder/coordinator" >"$folder/log/coordinator" 2>&1 &
processes+=("$!")
await "the coordinator" "$folder/log/coordinator" "${processes[-1]}" test -f "$folder/coordinator.address"
for number in 1 2; do
  "$binaries/evalfarm-worker" --slots 1 --listen 127.0.0.1:0 --address-file "$folder/worker-$number.address" \
    --cache "$folder/worker-cache" >"$folder/log/worker-$number" 2>&1 &
  processes+=("$!")
  await "worker $number" "$folder/log/worker-$number" "${processes[-1]}" test -f "$folder/worker-$number.address"
done

cat <<TEXT
The farm is up. In another terminal:

  export EVALFARM_COORDINATOR=http://$(cat "$folder/coordinator.address") EVALFARM_TOKEN_FILE=$folder/token
  $binaries/evalfarm submit datasets/sweeps/shop.toml --wait
  $binaries/evalfarm workers

Logs are in $folder/log. Ctrl-C ends it; started again with the same folder, it goes on with what it has.
TEXT
wait -n "${processes[@]}" || true
echo "error: a process of the farm ended; see $folder/log" >&2
exit 3
