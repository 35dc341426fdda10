#!/usr/bin/env bash
# Installs the servers that tests start privately: RabbitMQ and Redis. Sourced or run from the root of the checkout. The
# services that the packages may start are not used; tests run their own processes on free ports.
if [ ! -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || [ ! -x /usr/bin/redis-server ]; then
  sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" apt-get install -y -qq --no-install-recommends rabbitmq-server redis-server
fi
