"""The two shell scripts that bring Flux into a container that does not have it and start a broker there."""

from __future__ import annotations

INIT = r"""
# Flux comes in the installer's image; the training container gets it through the volume at /mnt/flux.
set -eu

root=/mnt/flux
etc=$root/config/etc

mkdir -p "$root/view" "$root/software" "$etc/flux/config" "$etc/flux/system" "$etc/curve"
mkdir -p "$root/config/run/flux" "$root/config/var/lib/flux"
cp -R "$view/." "$root/view/"
# The view is made of links into the package store, which the entrypoint puts back at its own path.
if [ -d /opt/software ]; then
  cp -R /opt/software/. "$root/software/"
fi

cat > "$etc/flux/config/broker.toml" <<TOML
[access]
allow-guest-user = true
allow-root-owner = true

[resource]
path = "$etc/flux/system/R"

[bootstrap]
curve_cert = "$etc/curve/curve.cert"
default_port = 8050
default_bind = "$bind"
default_connect = "$connect"
hosts = [{ host = "$hosts" }]

[archive]
dbpath = "$root/config/var/lib/flux/job-archive.sqlite"
period = "1m"
busytimeout = "50s"

[sched-fluxion-qmanager]
queue-policy = "$policy"
TOML
echo "Flux is installed; the broker of $main leads $hosts"
"""

ENTRYPOINT = r"""
# $1 is the command to run, its words separated by blanks; with no word in it the broker waits for visitors.
set -eu

root=/mnt/flux
etc=$root/config/etc
export PATH="$root/view/bin:$PATH"

for package in "$root"/software/*; do
  [ -e "$package" ] && ln -sfn "$package" "/opt/software/$(basename "$package")"
done

# Flux refuses a certificate that others may read, and the mounted one belongs to whom Kubernetes says.
install -m 0400 /curve/curve.cert "$etc/curve/curve.cert"

flux R encode --hosts="$hosts" $resources > "$etc/flux/system/R"

broker=(
  flux broker
  --config-path="$etc/flux/config"
  -Srundir="$root/config/run/flux"
  -Sstatedir="$root/config/var/lib/flux"
  -Slocal-uri="local://$root/config/run/flux/local"
  -Slog-stderr-level=6
)

if [ "$(hostname -s)" = "$main" ]; then
  words=()
  read -r -d '' -a words <<< "${1:-}" || true
  if [ "${#words[@]}" -eq 0 ]; then
    exec "${broker[@]}" sleep infinity
  fi
  exec "${broker[@]}" flux run $flags "${words[@]}"
fi

# The leader may not be there yet: its name resolves only once its pod has an address.
for _ in $(seq 60); do
  if "${broker[@]}"; then
    exit 0
  fi
  sleep 5
done
echo "the broker of $main was never reached" >&2
exit 1
"""


def init(job: str, domain: str, nodes: int, device: str, policy: str) -> str:
    """The installer's script: copies Flux and writes the broker's configuration."""
    return (
        "#!/bin/bash\n"
        + _settings(
            view="/opt/view",
            main=f"{job}-node-0-0",
            hosts=f"{job}-node-0-[{span(nodes)}]",
            bind=f"tcp://{device}:%p",
            connect=f"tcp://%h.{domain}:%p",
            policy=policy,
        )
        + INIT
    )


def entrypoint(job: str, nodes: int, tasks: int, gpus: int) -> str:
    """The training container's script: describes the resources and starts the broker, on rank 0 with the command."""
    with_gpus = gpus > 0
    return (
        "#!/bin/bash\n"
        + _settings(
            main=f"{job}-node-0-0",
            hosts=f"{job}-node-0-[{span(nodes)}]",
            resources=f"--cores={span(tasks)}" + (f" --gpus={span(gpus)}" if with_gpus else ""),
            flags=f"-N {nodes} -n {tasks * nodes}" + (f" -g {gpus}" if with_gpus else ""),
        )
        + ENTRYPOINT
    )


def span(count: int) -> str:
    """The range of that many numbers from 0, as Flux writes it."""
    return "0" if count == 1 else f"0-{count - 1}"


def _settings(**values: str) -> str:
    return "".join(f"{name}={quoted(value)}\n" for name, value in values.items())


def quoted(text: str) -> str:
    """A text as one word of a shell."""
    return f"'{text.replace(chr(39), _QUOTE)}'"


_QUOTE = "'\\''"
