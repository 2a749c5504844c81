"""The script that submits a RayJob's program, follows it, and ends as it ended."""

from __future__ import annotations

import json

from trainc.apiserver.embedded_yaml import embedded
from trainc.model.tree import get, plain, value
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

# `ray job logs --follow` ends with 0 whatever becomes of the job, so the dashboard is asked at the end. A dashboard that
# answers may still refuse a submission, until the agent of the head has come up.
_SCRIPT = """\
until python -c "import urllib.request as r; exit(b'success' not in r.urlopen('{url}/api/gcs_healthz', timeout=5).read())" >/dev/null 2>&1; do
  echo "waiting for the Ray dashboard at {url}"
  sleep 2
done
is_submitted() { ray job status --address {url} {id} >/dev/null 2>&1; }
if is_submitted; then
  ray job logs --address {url} --follow {id}
else
  for attempt in 1 2 3 4 5 6; do
    ray job submit --address {url}{options} --submission-id {id} -- {entrypoint} && break
    is_submitted && break
    sleep 10
  done
fi
python -c "import json, urllib.request as r; exit(json.load(r.urlopen('{url}/api/jobs/{id}'))['status'] != 'SUCCEEDED')"
"""


def script(spec: Tree, url: str, submission: str) -> str:
    """The driver's script: it waits for the dashboard, submits once, follows, and fails unless the job succeeded."""
    out = _SCRIPT.replace("{options}", _options(spec)).replace("{url}", url).replace("{id}", submission)
    return out.replace("{entrypoint}", (value(spec, "entrypoint") or "").strip())


def _options(spec: Tree) -> str:
    words: list[str] = []
    environment = embedded(value(spec, "runtimeEnvYAML") or "")
    if environment is not None:
        words += ["--runtime-env-json", _quoted(_json(environment))]
    metadata = plain(get(spec, "metadata"))
    if metadata:
        words += ["--metadata-json", _quoted(_json(metadata))]
    for flag, field in (("cpus", "entrypointNumCpus"), ("gpus", "entrypointNumGpus")):
        amount = value(spec, field)
        if amount:
            words += [f"--entrypoint-num-{flag}", amount if is_placeholder(amount) else f"{amount:g}"]
    resources = value(spec, "entrypointResources")
    if resources:
        words += ["--entrypoint-resources", _quoted(resources)]
    return "".join(f" {word}" for word in words)


def _json(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _quoted(text: str) -> str:
    """A text as one word of the shell."""
    return "'" + text.replace("'", "'\\''") + "'"
