"""Each control of the Pod Security Standards: what it refuses, in the server's words, and the nearest that it takes."""

import pytest

from trainc.lint.standards import violations
from trainc.lint.standards.pod import NEWEST
from trainc.model.report import Report
from trainc.model.tree import get
from trainc.yaml.reader import read

BASELINE, RESTRICTED = "baseline", "restricted"


def template(pod: str = "", container: str = "", *, annotations: str = "", containers: str = "") -> str:
    """A pod template with these fields, and one container `a` unless `containers` lists others."""
    listed = containers or f"{{name: a, {container}}}"
    return f"{{metadata: {{annotations: {{{annotations}}}}}, spec: {{{pod}{', ' * bool(pod)}containers: [{listed}]}}}}"


def secure(pod: str = "", container: str = "") -> str:
    """The same with the securityContext of the pod and of its container."""
    return template(f"securityContext: {{{pod}}}", f"securityContext: {{{container}}}")


def told(text: str, level: str, minor: int = NEWEST) -> dict[str, str]:
    """What is said by control; each violation points at something that is written."""
    (document,) = read(text.encode(), "pod.yaml", Report())
    pod = document.tree
    found = list(violations(pod, level, minor))
    assert all(get(pod, *violation.path) is not None for violation in found)
    return {violation.control: violation.details for violation in found}


REFUSED = [
    (
        secure("appArmorProfile: {type: Unconfined}"),
        "forbidden AppArmor profile",
        'pod must not set AppArmor profile type to "Unconfined"',
    ),
    (
        template(annotations="container.apparmor.security.beta.kubernetes.io/a: unconfined"),
        "forbidden AppArmor profile",
        'annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/a="unconfined""',
    ),
    (
        secure(container="capabilities: {add: [IPC_LOCK]}"),
        "non-default capabilities",
        'container "a" must not include "IPC_LOCK" in securityContext.capabilities.add',
    ),
    (template("hostPID: true, hostIPC: true"), "host namespaces", "hostPID=true, hostIPC=true"),
    (template("volumes: [{name: v, hostPath: {path: /v}}]"), "hostPath volumes", 'volume "v"'),
    (
        template(container="ports: [{containerPort: 80, hostPort: 80}, {containerPort: 9, hostPort: 9}]"),
        "hostPort",
        'container "a" uses hostPorts 80, 9',
    ),
    (
        template(container="livenessProbe: {httpGet: {host: bad, port: 80}}"),
        "probe or lifecycle host",
        'container "a" uses probe or lifecycle host "bad"',
    ),
    (
        template(container="startupProbe: {tcpSocket: {host: bad, port: 80}}"),
        "probe or lifecycle host",
        'container "a" uses probe or lifecycle host "bad"',
    ),
    (
        template(
            containers="{name: b, lifecycle: {preStop: {httpGet: {host: two, port: 1}}}}, "
            "{name: a, lifecycle: {postStart: {tcpSocket: {host: one, port: 1}}}}"
        ),
        "probe or lifecycle host",
        'containers "a", "b" use probe or lifecycle hosts "one", "two"',
    ),
    (secure(container="privileged: true"), "privileged", 'container "a" must not set securityContext.privileged=true'),
    (
        secure(container="procMount: Unmasked"),
        "procMount",
        'container "a" must not set securityContext.procMount to "Unmasked"',
    ),
    (
        secure("seLinuxOptions: {type: spc_t, user: u}"),
        "seLinuxOptions",
        'pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set',
    ),
    (
        secure("seLinuxOptions: {role: r}", "seLinuxOptions: {type: spc_t}"),
        "seLinuxOptions",
        'pod and container "a" set forbidden securityContext.seLinuxOptions: type "spc_t"; role may not be set',
    ),
    (
        secure("seccompProfile: {type: Unconfined}", "seccompProfile: {type: Unconfined}"),
        "seccompProfile",
        'pod and container "a" must not set securityContext.seccompProfile.type to "Unconfined"',
    ),
    (secure("sysctls: [{name: kernel.shmmax, value: '1'}]"), "forbidden sysctls", "kernel.shmmax"),
    (
        secure("windowsOptions: {hostProcess: true}", "windowsOptions: {hostProcess: true}"),
        "hostProcess",
        'pod and container "a" must not set securityContext.windowsOptions.hostProcess=true',
    ),
]
TAKEN = [
    secure("appArmorProfile: {type: Localhost, localhostProfile: p}"),
    template(annotations="container.apparmor.security.beta.kubernetes.io/a: localhost/p"),
    secure(container="capabilities: {add: [CHOWN]}"),
    template("hostPID: false, hostIPC: false, hostNetwork: false"),
    template("volumes: [{name: v, emptyDir: {}}]"),
    template(container="ports: [{containerPort: 80}]"),
    template(container='livenessProbe: {httpGet: {host: "", port: 80}}, lifecycle: {preStop: {exec: {command: [a]}}}'),
    secure(container="privileged: false"),
    secure(container="procMount: Default"),
    template("hostUsers: false", "securityContext: {procMount: Unmasked}"),
    secure("seLinuxOptions: {type: container_engine_t, level: s0}"),
    secure("seccompProfile: {type: Localhost, localhostProfile: p}"),
    secure("sysctls: [{name: net.ipv4.tcp_slow_start_after_idle, value: '0'}]"),
    secure("windowsOptions: {hostProcess: false, runAsUserName: u}"),
    secure("seccompProfile: {type: '${PROFILE}'}", "capabilities: {add: ['${CAPABILITY}']}"),
]
SOUND_POD = "runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}"
SOUND = "allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}"
STRICTER = [
    (
        secure(SOUND_POD, "capabilities: {drop: [ALL]}"),
        "allowPrivilegeEscalation != false",
        'container "a" must set securityContext.allowPrivilegeEscalation=false',
    ),
    (
        secure(SOUND_POD, "allowPrivilegeEscalation: false, capabilities: {drop: [KILL], add: [CHOWN]}"),
        "unrestricted capabilities",
        (
            'container "a" must set securityContext.capabilities.drop=["ALL"]; '
            'container "a" must not include "CHOWN" in securityContext.capabilities.add'
        ),
    ),
    (
        template(
            f"hostUsers: false, securityContext: {{{SOUND_POD}}}", f"securityContext: {{{SOUND}, procMount: Unmasked}}"
        ),
        "procMount",
        'container "a" must not set securityContext.procMount to "Unmasked"',
    ),
    (
        template(
            f"securityContext: {{{SOUND_POD}}}, volumes: [{{name: v, nfs: {{server: s, path: /}}}}, {{name: w, rbd: {{}}}}]",
            f"securityContext: {{{SOUND}}}",
        ),
        "restricted volume types",
        'volumes "v", "w" use restricted volume types "nfs", "rbd"',
    ),
    (
        secure("seccompProfile: {type: RuntimeDefault}", SOUND),
        "runAsNonRoot != true",
        'pod or container "a" must set securityContext.runAsNonRoot=true',
    ),
    (
        secure("seccompProfile: {type: RuntimeDefault}, runAsNonRoot: false", f"{SOUND}, runAsNonRoot: true"),
        "runAsNonRoot != true",
        "pod must not set securityContext.runAsNonRoot=false",
    ),
    (secure(f"{SOUND_POD}, runAsUser: 0", SOUND), "runAsUser=0", "pod must not set runAsUser=0"),
    (
        secure("runAsNonRoot: true", SOUND),
        "seccompProfile",
        'pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
    ),
]


@pytest.mark.parametrize(("pod", "control", "details"), REFUSED)
def test_baseline_refuses(pod: str, control: str, details: str) -> None:
    assert told(pod, BASELINE) == {control: details}


@pytest.mark.parametrize(("pod", "control", "details"), REFUSED)
def test_restricted_refuses_what_baseline_refuses(pod: str, control: str, details: str) -> None:
    renamed = {"non-default capabilities": "unrestricted capabilities", "hostPath volumes": "restricted volume types"}
    found = told(pod, RESTRICTED)
    assert renamed.get(control, control) in found
    assert control in renamed or found[control] == details


@pytest.mark.parametrize("pod", TAKEN)
def test_baseline_takes(pod: str) -> None:
    assert told(pod, BASELINE) == {}


@pytest.mark.parametrize(("pod", "control", "details"), STRICTER)
def test_restricted_asks_for_more(pod: str, control: str, details: str) -> None:
    assert told(pod, BASELINE) == {}
    assert told(pod, RESTRICTED) == {control: details}


RELAXED = [
    secure(SOUND_POD, SOUND),
    template("os: {name: windows}, securityContext: {runAsNonRoot: true}"),
    template(
        "hostUsers: false, securityContext: {runAsUser: 0, seccompProfile: {type: Localhost}}",
        f"securityContext: {{{SOUND}}}",
    ),
    template(
        f"securityContext: {{{SOUND_POD}}}, volumes: [{{name: v, image: {{reference: r}}}}]",
        f"securityContext: {{{SOUND}}}",
    ),
    secure("runAsNonRoot: '${NON_ROOT}', seccompProfile: {type: '${PROFILE}'}", SOUND),
]


@pytest.mark.parametrize("pod", RELAXED)
def test_restricted_takes(pod: str) -> None:
    assert told(pod, RESTRICTED) == {}


@pytest.mark.parametrize(
    ("pod", "level", "since"),
    [
        (template(container="livenessProbe: {httpGet: {host: bad, port: 80}}"), BASELINE, 34),
        (secure(SOUND_POD, "capabilities: {drop: [ALL]}"), RESTRICTED, 8),
        (secure(f"{SOUND_POD}, runAsUser: 0", SOUND), RESTRICTED, 23),
    ],
)
def test_a_control_holds_from_its_version_on(pod: str, level: str, since: int) -> None:
    assert told(pod, level, since - 1) == {}
    assert told(pod, level, since) == told(pod, level)


@pytest.mark.parametrize(
    ("pod", "level", "since"),
    [
        (secure("seLinuxOptions: {type: container_engine_t}"), BASELINE, 31),
        (secure("sysctls: [{name: net.ipv4.tcp_rmem, value: '1'}]"), BASELINE, 32),
        (template("hostUsers: false", "securityContext: {procMount: Unmasked}"), BASELINE, 35),
        (
            template(
                "hostUsers: false, securityContext: {seccompProfile: {type: Localhost}}",
                f"securityContext: {{{SOUND}}}",
            ),
            RESTRICTED,
            35,
        ),
        (template("os: {name: windows}, securityContext: {runAsNonRoot: true}"), RESTRICTED, 25),
    ],
)
def test_what_is_allowed_from_a_version_on(pod: str, level: str, since: int) -> None:
    assert told(pod, level, since - 1)
    assert told(pod, level, since) == {}


def test_seccomp_was_an_annotation() -> None:
    pod = template(annotations="seccomp.security.alpha.kubernetes.io/pod: unconfined")
    said = 'forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined"'
    assert (told(pod, BASELINE, 18), told(pod, BASELINE, 19)) == ({"seccompProfile": said}, {})
