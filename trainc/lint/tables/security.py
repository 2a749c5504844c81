"""What the Pod Security Standards allow by name, as of Kubernetes 1.37."""

from __future__ import annotations

DEFAULT_CAPABILITIES = frozenset((
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
))  # fmt: skip
RESTRICTED_CAPABILITIES = frozenset(("NET_BIND_SERVICE",))
# The minor version of the standards from which each is allowed.
SAFE_SYSCTLS = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_notsent_lowat": 37,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_slow_start_after_idle": 37,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.tcp_wmem": 32,
}
CONTAINER_TYPES = {"container_t": 0, "container_init_t": 0, "container_kvm_t": 0, "container_engine_t": 31}
RESTRICTED_VOLUMES = frozenset((
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
    "secret",
))  # fmt: skip
