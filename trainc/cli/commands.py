"""The table of commands: names, options, help and examples of each. The module of a command's name runs it."""

from trainc.cli.options import Command, Option

# fmt: off
# The words are those of trainc.changes.compare.updates, which only runs that compare load.
AS = Option(
    "--as",
    "how --against applies the edit: built manifests, or files as they are",
    choices=("server-side-apply", "client-side-apply", "put", "server-side-apply-files"),
)
STAGED = Option("--staged", "check the next commit: the contents of Git's index")
SELECT = Option("--select", "check only this rule or category, and admission; may be repeated", metavar="RULE")
COLOR = Option("--color", "color text output", choices=("auto", "always", "never"))
REPORTING = (
    Option("--only", "check admission by the API server only, or rendered files only", choices=("admission", "rendered")),
    Option("--cluster", "compile for this cluster of trainc.yaml only; may be repeated", metavar="NAME"),
    Option("--set", "override a cluster setting, such as scheduler=volcano or kubernetes=1.37", metavar="KEY=VALUE"),
    Option("--closed-world", "treat classes, PVCs and queues that are not in the input as missing"),
    Option("--pod-security", "check pods against this Pod Security Standard", choices=("baseline", "restricted")),
    Option("--field-validation", "handle unknown and duplicate fields as kubectl does", choices=("strict", "warn", "ignore")),
    Option("--no-cache", "do not use results of earlier runs", is_advanced=True),
    Option("--jobs", "number of workers (default: one per core, each with 100 files or more)", metavar="N", is_advanced=True),
    Option("--fail-on", "exit with 1 for warnings too, or for skipped checks as well", choices=("error", "warning", "skipped")),
    Option("--report", "output format of findings", choices=("text", "json", "github", "gitlab", "junit", "rdjson", "sarif")),
    COLOR,
    Option("-v --verbose", "print every finding in full, with notes and without the limit of 200"),
    Option("-q --quiet", "print errors only, and no summary"),
    Option("--min-level", "", choices=("note", "warning", "error"), instead="-q for errors only, -v for notes"),
    Option("--notes", "", instead="-v"),
    Option("--all", "", instead="-v"),
    Option("--ignore", "suppress a rule or category, admission errors excepted; may be repeated", metavar="RULE"),
    Option("--statistics", "count findings by rule and file instead of printing them", is_advanced=True),
)
GET_CAPACITY = (
    "kubectl get nodes,pods,namespaces,resourcequotas,limitranges,priorityclasses,runtimeclasses,"
    "resourceflavors,clusterqueues,cohorts,localqueues,topologies,admissionchecks,workloadpriorityclasses,"
    "workloads -A -o json"
)
GET_JOBS = (
    "kubectl get trainjobs,clustertrainingruntimes,trainingruntimes,jobsets,jobs,"
    "pytorchjobs,mpijobs,tfjobs,rayjobs -A -o yaml"
)
GET_STATE = "kubectl get jobset,job,pod,event,workload,podgroup,service -n NAMESPACE -o yaml"

_EVERY = (
    Command(
        "build",
        "[PATH...]",
        "Compile the jobs under PATH (files or folders; - is stdin; default: here) into plain manifests.\n"
        "Manifests go to stdout, findings to stderr. If there are errors, nothing is written.",
        (
            Option("-w --write", "write one file per job to the project's output folder (default: rendered)"),
            Option("-o --output", "write one file per job to DIR; - is stdout", metavar="DIR", is_folder=True),
            Option("--check", "write nothing; exit with 1 if rendered files are out of date"),
            STAGED,
            Option("--changed-since", "build only what changed since REV, and the jobs it affects", metavar="REV"),
            Option("--base", "let runs keep their rendering of this commit, not of HEAD or where the branch started", metavar="REVISION"),
            Option("--rerender", "render the current run of this job again; `all` for every run", metavar="NAME"),
            Option("--format", "output format on stdout", choices=("yaml", "json")),
            Option("--include-other", "also pass through documents from files without jobs"),
            *REPORTING,
        ),
        (
            "trainc build jobs/bert.yaml",
            "trainc build -w",
            "trainc build --check",
            "trainc build -o manifests/",
            "cat job.yaml | trainc build - | kubectl diff -f -",
        ),
    ),
    Command(
        "validate",
        "[PATH...]",
        "Check that the jobs under PATH are valid and will run, without writing manifests.",
        (
            Option("--whole-project", "compile the whole project; report findings that concern PATH"),
            STAGED,
            Option("--against", "also check the edit since BASE: a file, folder or Git revision", metavar="BASE"),
            AS,
            SELECT,
            Option("--write-baseline", "accept all current findings; later runs report only new ones"),
            *REPORTING,
        ),
        ("trainc validate", "trainc validate jobs/ --fail-on warning", "trainc validate job.yaml --only admission"),
    ),
    Command(
        "why",
        "FILE[:LINE]|JOB [FIELD]",
        "Show what set a field: the layer and file:line it comes from, and the values it overrides.\n"
        "FIELD is one or more whole steps of a path in the output of the job in FILE (- is stdin) or the job named JOB;\n"
        "`*` and `**` match any steps. LINE also works on rendered files. For a line or field of a job, runtime,\n"
        "component or trainc.yaml, it shows where the value ends up.",
        (Option("--report", "output format", choices=("text", "json")), COLOR),
        ("trainc why jobs/bert.yaml parallelism", "trainc why bert image", "trainc why rendered/nlp/bert.yaml:57"),
    ),
    Command(
        "show",
        "[PATH...]",
        "Show what will run: roles, pods, host names, ranks, accelerators, start order.\n"
        "Several jobs print as one line each, with queue, accelerators, run and the state of the rendering, plus totals.\n"
        "--rank prints one pod's environment and command. --lifecycle prints the start order and what happens when a\n"
        "pod fails; it simulates each EVENT of --after (`ready: POD`, `succeeded JOB`, `failed POD exit 3`, `resumed`)\n"
        "and prints what exists afterwards.",
        (
            Option("--details", "draw each job instead of one line per job"),
            Option("--group", "list the jobs grouped by this", choices=("cluster", "queue", "folder")),
            Option("--rendered", "also show each job as its rendered file has it"),
            Option("--rank", "show this pod only", metavar="N"),
            Option("--lifecycle", "show the start order, and what happens when a pod fails"),
            Option("--after", "simulate an event; may be repeated", metavar="EVENT"),
            Option(
                "--report",
                "output format; html is a page for browsers, mermaid a diagram for Markdown",
                choices=("text", "markdown", "json", "mermaid", "html"),
            ),
            Option("-o --output", "write the --report html page to FILE; - is stdout", metavar="FILE"),
            COLOR,
            Option("--cluster", "show this cluster only; may be repeated", metavar="NAME"),
            Option("--set", "override a cluster setting, such as scheduler=volcano", metavar="KEY=VALUE"),
        ),
        (
            "trainc show jobs/bert.yaml",
            "trainc show --group queue",
            "trainc show jobs/bert.yaml --rank 1",
            "trainc show jobs/bert.yaml --lifecycle",
            "trainc show --report html -o training.html",
        ),
    ),
    Command(
        "diff",
        "[BASE | FOLDER FOLDER]",
        "Show semantic changes since BASE (a Git revision, default HEAD), or between two folders:\n"
        "jobs added, removed, renamed or edited, which edit affects them, and what the API server would reject.",
        (
            Option("--details", "list every change of a job, not the first five"),
            Option("--report", "output format", choices=("text", "markdown", "comment", "json")),
            COLOR,
            Option("--exit-code", "exit with 1 if anything changes"),
            Option("--cluster", "compare for this cluster only; may be repeated", metavar="NAME"),
            Option("--set", "override a cluster setting on both sides; may be repeated", metavar="KEY=VALUE"),
            Option("--include-other", "also compare documents from files without jobs, as in build"),
        ),
        ("trainc diff", "trainc diff main --report markdown", "trainc diff old/ new/ --exit-code"),
    ),
    Command(
        "run",
        "JOB...",
        "Start the next run of jobs, given by name, glob or file. Sets `trainc.dev/run` in the job's file, or in its\n"
        "TrainJobPatch for a cluster, keeps comments, and prints how the new run differs from the last one.",
        (
            Option("--cluster", "only on this cluster, which has a TrainJobPatch; may be repeated", metavar="NAME"),
            Option("--dry-run", "show the edit without writing it"),
            Option("--details", "list every change of a job, not the first five"),
            COLOR,
        ),
        ("trainc run bert", "trainc run 'nlp-*' --dry-run", "trainc run jobs/bert.yaml"),
    ),
    Command(
        "migrate",
        "[PATH...]",
        "Rewrite jobs of other operators, and earlier versions of Trainer kinds, as current TrainJobs.\n"
        "Prints the new files, and what changes in meaning and in the compiled manifests; keeps comments.",
        (
            Option("-w --write", "edit the files in place"),
            Option("--runtime", "use this runtime for all jobs; create it from what they share if needed", metavar="NAME"),
            Option("--details", "list every change, not a summary, for more than three jobs"),
            Option("--report", "output format", choices=("text", "markdown", "json")),
        ),
        ("trainc migrate jobs/mnist.yaml", "trainc migrate -w jobs/", "trainc migrate jobs/ --report markdown"),
    ),
    Command(
        "fix",
        "[PATH...]",
        "Show the safe fixes for findings as a diff, and apply them with -w. Keeps comments and layout.",
        (
            Option("-w --write", "edit the files in place"),
            Option("--unsafe", "include edits that may change what a job does"),
            COLOR,
        ),
        ("trainc fix jobs/bert.yaml", "trainc fix -w jobs/"),
    ),
    Command(
        "rules",
        "[NAME]",
        "List every rule with its level, or show one with its reason and the smallest input that fails it.",
        (
            Option("--kind", "list the differences from this kind's operator", metavar="KIND"),
            Option("--report", "output format", choices=("text", "json")),
        ),
        ("trainc rules", "trainc rules reserved-env", "trainc rules --kind PyTorchJob"),
    ),
    Command(
        "runtimes",
        "[list|show NAME|copy NAME... [DIR/]|flatten NAME]",
        "List, print and copy runtimes and components: the project's, with the jobs that use them, and those trainc ships.\n"
        "`copy` writes them to runtimes/ and runtimes/components/, where you can edit them. `flatten` prints the\n"
        "ClusterTrainingRuntime that a runtime resolves to.",
        (Option("--cluster", "flatten with the additions of this cluster in trainc.yaml", metavar="NAME"),),
        (
            "trainc runtimes",
            "trainc runtimes show torch-distributed",
            "trainc runtimes copy torch-distributed",
            "trainc runtimes flatten llm-base",
        ),
    ),
    Command(
        "rehearse",
        "PATH",
        "Run the pods of the job under PATH as local processes, with the environment and commands of its manifests, and\n"
        "report whether they all connected. Asks for confirmation first, because it executes those commands.",
        (
            Option("--nodes", "scale the job down to N nodes", metavar="N"),
            Option("--command", "run this command instead of the pods' own", metavar="COMMAND"),
            Option("--directory", "working directory (default: the project's folder)", metavar="DIR"),
            Option("--timeout", "time limit in seconds (default: 120)", metavar="SECONDS"),
            Option("--logs", "write the output of each process to its own file below DIR", metavar="DIR"),
            Option("--yes", "do not ask for confirmation"),
        ),
        ("trainc rehearse examples/jax-cpu", "trainc rehearse jobs/bert.yaml --nodes 2 --command 'torchrun probe.py'"),
    ),
    Command(
        "schemas",
        "[list|show NAME|export DIR|generate [CHECKOUT]]",
        "List, print and export the schemas of every kind trainc reads or writes: CRDs for clusters, JSON Schemas for editors.",
        (Option("--format", "output format of `show`", choices=("yaml", "json")),),
        ("trainc schemas", "trainc schemas show TrainJob", "trainc schemas export .schemas/"),
    ),
    Command(
        "init",
        "[DIR]",
        "Create a repository in DIR (default: here): a job, its runtime, trainc.yaml, a folder for dumps of the cluster,\n"
        "pre-commit hooks, a CI workflow. What is already there stays.",
        (
            Option("--cluster", "name of the cluster (default: main)", metavar="NAME"),
            Option("--delivery", "tool that applies the manifests", choices=("argocd", "argocd-plugin", "flux")),
            Option("--scheduler", "scheduler of the cluster's jobs", choices=("kueue", "volcano", "coscheduling")),
            Option("--policies", "add admission policies: runtimes, registries, accelerators, labels"),
        ),
        ("trainc init", "trainc init training --delivery argocd", "trainc init --policies"),
    ),
    Command(
        "completion",
        "bash|zsh|fish|words [-- WORD...]",
        "Print the shell completion script for commands, options, rules, runtimes, clusters and fields.\n"
        "`words` prints the candidates for the last WORD; the scripts call it.",
        (),
        (
            "source <(trainc completion bash)",
            "trainc completion zsh > ~/.zfunc/_trainc",
            "trainc completion fish > ~/.config/fish/completions/trainc.fish",
        ),
    ),
    Command(
        "adopt",
        "DIR [FILE...]",
        "Create a repository from the kubectl output of a cluster (default: standard input): a file for each job and\n"
        "runtime, rendered manifests that keep running jobs as they are, and a list of every other object. Existing\n"
        "files are never overwritten. Omit kinds that the cluster does not have:\n\n"
        f"  {GET_JOBS} \\\n    | trainc adopt DIR",
        (
            Option("--cluster", "name of the cluster (default: main)", metavar="NAME"),
            Option("--finished", "finished jobs, which would train again: write to archive/, or skip", choices=("archive", "skip")),
            Option("--migrate", "rewrite jobs of other operators as TrainJobs"),
            Option("--delivery", "tool that applies the rendered manifests", choices=("argocd", "flux")),
            Option("--report", "output format", choices=("text", "json")),
        ),
        ("kubectl get trainjobs,jobsets -A -o yaml | trainc adopt training", "trainc adopt . dump.yaml --cluster eu"),
    ),
    Command(
        "new",
        "NAME [-- COMMAND...]",
        "Create a job, and the runtime it needs if the project has none. Existing files are never overwritten.\n"
        "On a terminal it prompts for missing values; with any option, or without a terminal, it never prompts.",
        (
            Option("--framework", "training framework: torch, jax, mpi, ... (default: torch); `list` shows all", metavar="NAME"),
            Option("--nodes", "number of nodes (default: 1)", metavar="N"),
            Option("--gpus", "NVIDIA GPUs per node", metavar="N"),
            Option("--cpu", "CPU cores per node", metavar="N"),
            Option("--memory", "memory per node, such as 64Gi", metavar="AMOUNT"),
            Option("--image", "container image (default: the runtime's)", metavar="IMAGE"),
            Option("--on", "machine type, such as gke-a3-mega or eks-p5; `list` shows all", metavar="MACHINES"),
            Option("--with", "set a parameter of the machine type, such as topology=4x4x4", metavar="KEY=VALUE"),
            Option("--checkpoints", "PVC for checkpoints; failed jobs then restart", metavar="CLAIM"),
            Option("--namespace", "namespace of the job (default: training)", metavar="NAME"),
            Option("--scheduler", "scheduler of the cluster, for a project without trainc.yaml", metavar="NAME"),
            Option("--kubernetes", "Kubernetes version of the cluster; --scheduler native needs it", metavar="VERSION"),
            Option("--queue", "Kueue or Volcano queue", metavar="NAME"),
            Option("--runtime", "base the job on this runtime of the project", metavar="NAME"),
            Option("--dir", "folder for the job's file (default: jobs at the top of the project, else here)", metavar="DIR"),
            Option("--yes", "do not prompt"),
        ),
        (
            "trainc new bert --nodes 4 --gpus 8 --image registry.example.com/bert:1 -- torchrun train.py",
            "trainc new llama --framework jax --on tpu-v5p --with topology=4x4x4",
            "trainc new bert --on eks-p5 --nodes 4 --checkpoints bert-checkpoints",
        ),
    ),
    Command(
        "explain",
        "[KIND.FIELD | ANNOTATION | RULE | CATEGORY | rules]",
        "Describe a field of any kind or of trainc.yaml, an annotation (type, default, example), or a rule (reason, minimal\n"
        "failing input). `rules` lists all rules by category; with no argument, it lists the kinds.",
        (
            Option("--recursive", "list all nested fields"),
            Option("--kind", "list the differences from this kind's operator, such as PyTorchJob", metavar="KIND"),
            Option("--report", "output format", choices=("text", "json")),
        ),
        (
            "trainc explain TrainJob.spec.trainer",
            "trainc explain trainc.yaml.spec.clusters",
            "trainc explain trainc.dev/run",
            "trainc explain nodes-mismatch",
            "trainc explain rules",
        ),
    ),
    Command(
        "lsp",
        "",
        "Run the language server for editors, on standard input and output: findings while you type, hover, go to\n"
        "definition, completion, and the edits of `trainc fix` as quick fixes.\n"
        "Requires the extra: pip install 'trainc[lsp]'.",
        (),
        ("trainc lsp",),
    ),
    Command(
        "fit",
        "[PATH...]",
        "Check whether each job can ever be admitted on its cluster: by which queue and flavor, on which nodes, or the first\n"
        "reason why not and the smallest change that would help. Reads dumps, never a cluster.",
        (
            Option("--inventory", "dump or inventory to use in addition to the cluster's folder", metavar="FILE"),
            Option("--what-if", "check the jobs with another value, such as numNodes=8", metavar="KEY=VALUE"),
            Option("--headroom", "show how many more nodes each job could request"),
            Option("--together", "admit all jobs at once, by priority, then by name"),
            Option("--now", "count workloads and pods of the dump as running (default: idle cluster)"),
            Option("--report", "output format", choices=("text", "markdown", "json")),
            Option("--cluster", "check this cluster of trainc.yaml only; may be repeated", metavar="NAME"),
            Option("--set", "override a cluster setting, such as queue=research", metavar="KEY=VALUE"),
            Option("--closed-world", "treat what is not in the dump as missing"),
        ),
        ("trainc fit", "trainc fit jobs/bert.yaml --what-if numNodes=8", "trainc fit --together --report markdown"),
    ),
    Command(
        "inventory",
        "[FILE...]",
        "Reduce a dump of a cluster (default: standard input) to what decides whether jobs start: groups of identical nodes,\n"
        "queues, flavors, quotas, limits, classes. Create the dump with\n\n"
        f"  {GET_CAPACITY} \\\n    | trainc inventory --complete > clusters/NAME/inventory.yaml",
        (
            Option("--complete", "the dump covers every kind of the command; a missing kind has no objects"),
            Option("--date", "time of the dump (default: the newest timestamp in it)", metavar="TIME"),
        ),
        ("kubectl get nodes,clusterqueues -o json | trainc inventory", "trainc inventory dump.json --complete"),
    ),
    Command(
        "diagnose",
        "[FILE...]",
        "Show the state of each job on a cluster, what went wrong first, and the line in Git that caused it.\n"
        "Reads kubectl output (default: standard input), never a cluster. Omit kinds that the cluster does not have:\n\n"
        f"  {GET_STATE} \\\n    | trainc diagnose -",
        (
            Option("--repository", "repository of the jobs (default: the current project)", metavar="DIR"),
            Option("--cluster", "compile the repository for this cluster of trainc.yaml", metavar="NAME"),
            Option("--report", "output format", choices=("text", "json")),
        ),
        ("kubectl get jobset,job,pod,event -o yaml | trainc diagnose -", "trainc diagnose dump.yaml --report json"),
    ),
    Command(
        "cmp",
        "generate|parameters|paths [FOLDER]",
        "Run as an Argo CD config management plugin: compile the application in this folder, or announce its parameters.\n"
        "`paths` prints the manifest-generate-paths annotation for the application of a folder.\n"
        "Reads ARGOCD_APP_PARAMETERS, ARGOCD_APP_NAMESPACE and ARGOCD_APP_SOURCE_PATH.",
        (),
        ("trainc cmp generate", "trainc cmp parameters", "trainc cmp paths jobs/research"),
    ),
    Command(
        "flux",
        "FILE...",
        "Add the rendered JobSets as health checks to the Flux Kustomizations in these files.\n"
        "`wait` skips JobSets that Flux created earlier; Flux checks listed ones every time.",
        (Option("--check", "write nothing; fail if a list is out of date"),),
        ("trainc flux deploy/flux.yaml", "trainc flux --check deploy/flux.yaml"),
    ),
    Command(
        "fn",
        "",
        "Run as a KRM function for kustomize and kpt: read a ResourceList from stdin, write one to stdout. Jobs are compiled\n"
        "in place, other items are unchanged, findings become results. functionConfig is a ConfigMap, or a Build or\n"
        "Validate of trainc.dev/v1alpha1, with options of `build` and cluster settings.",
        (),
        ('kpt fn eval . --exec "trainc fn" --output unwrap', "trainc fn < resources.yaml"),
    ),
)
# fmt: on
COMMANDS = {command.name: command for command in _EVERY}
