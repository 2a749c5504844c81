// The views: jobs, one job, runtimes, findings, capacity, and what a search finds.

const projects = JSON.parse(document.getElementById("index").textContent);
projects.forEach((project, at) => { project.number = at; project.prefix = project.folder && project.folder !== "." ? `${project.folder}/` : ""; });
const several = projects.length > 1;
const jobs = projects.flatMap((project) => project.jobs.map((job, at) => Object.assign(job, { project, address: `/job/${project.number}/${at}` })));
const refused = projects.flatMap((project) => project.refused.map((job) => ({ ...job, project })));
const findings = projects.flatMap((project) => project.findings.map((finding) => Object.assign(finding, { project })));
const runtimes = projects.flatMap((project) => project.runtimes.nodes.map((node, at) => Object.assign(node, { project, at, address: `/runtimes/${project.number}/${at}` })));
const LEVELS = ["error", "warning", "note"];

const fullName = (job) => (job.namespace ? `${job.namespace}/${job.name}` : job.name);
const clusterName = (job) => (several ? [job.project.name || job.project.folder, job.cluster].filter(Boolean).join(" / ") : job.cluster);
const runtimeOf = (job) => (job.runtime === null || job.runtime === undefined ? null : job.project.runtimes.nodes[job.runtime]);

const GROUPS = {
  cluster: ["cluster", clusterName],
  queue: ["queue", (job) => job.queue],
  team: ["team (namespace)", (job) => job.namespace],
  folder: ["folder", (job) => `${job.project.prefix}${job.folder}`],
  runtime: ["runtime", (job) => runtimeOf(job)?.name],
};

function findingsAt(job) {
  // A file may hold several jobs: a finding belongs to the last one that starts above it.
  const starts = (job.project.starts ??= startsByFile(job.project));
  const next = starts.get(job.file).find((start) => start > job.start) ?? Infinity;
  const inFile = (job.project.findingsByFile ??= findingsByFile(job.project)).get(job.file) ?? [];
  return inFile.filter((finding) => finding.labels.some((label) => label.file === job.file && label.line >= job.start && label.line < next));
}

function findingsByFile(project) {
  const files = new Map();
  for (const finding of project.findings) for (const file of new Set(finding.labels.map((label) => label.file))) files.set(file, [...(files.get(file) ?? []), finding]);
  return files;
}

function startsByFile(project) {
  const starts = new Map();
  for (const job of project.jobs) starts.set(job.file, [...new Set([...(starts.get(job.file) ?? []), job.start])].sort((one, other) => one - other));
  return starts;
}

function levelsOf(list) {
  return LEVELS.map((name) => [name, list.filter((finding) => finding.level === name).length]).filter(([, found]) => found)
    .map(([name, found]) => [level(name, count(found, name)), " "]);
}

function totals(list) {
  const sums = {};
  let pods = 0, unknown = 0;
  for (const job of list) {
    if (job.pods === null) unknown += 1; else pods += job.pods;
    for (const [name, value] of Object.entries(job.accelerators)) if (value === null) unknown += 1; else sums[name] = (sums[name] ?? 0) + value;
  }
  return [count(list.length, "job"), count(pods, "pod"), amounts(sums), unknown ? count(unknown, "unknown number", "unknown numbers") : ""].filter(Boolean).join(", ");
}

const answerOf = (fit) => make("span", { class: { fits: "good", admitted: "good", never: "error", "needs nodes": "warning", waits: "warning" }[fit.status] ?? "soft" }, fit.status);

function jobTable(list, caption, group = "") {
  const columns = [
    ["Job", (job) => link(job.address, fullName(job))],
    ["Cluster", (job) => clusterName(job) ?? ""],
    ["Queue", (job) => job.queue ?? ""],
    ["Runtime", (job) => runtimeOf(job)?.name ?? job.kind],
    ["Pods", (job) => number(job.pods)],
    ["Accelerators", (job) => amounts(job.accelerators)],
    ["Capacity", (job) => (job.fit ? answerOf(job.fit) : "")],
    ["Findings", (job) => levelsOf(findingsAt(job))],
    ["Rendering", (job) => job.rendering?.state ?? ""],
    ["File", (job) => code(`${job.project.prefix}${job.file}`)],
  ].filter(([name]) => name.toLowerCase() !== group); // it would say what the group's title says
  const show = (part) => table(caption, columns.map(([name]) => name), part.map((job) => columns.map(([, cell]) => cell(job))));
  return portions(list, 100, show, "jobs");
}

function leftOut() {
  const lines = projects.flatMap((project) => project.left.map((words) => [several ? `${project.prefix} ` : "", sentence(words), ". "]));
  return lines.length ? make("div", { class: "alert", role: "note" }, make("p", {}, make("strong", {}, "Not on this page: "), lines)) : null;
}

function jobsView(group = "cluster") {
  const [noun, of] = GROUPS[group] ?? GROUPS.cluster;
  const groups = new Map();
  for (const job of jobs) {
    const name = of(job) || "(none)";
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(job);
  }
  const chooser = make("select", { id: "group", onchange: (event) => { location.hash = `/jobs/${event.target.value}`; } },
    Object.entries(GROUPS).map(([name, [words]]) => make("option", { value: name, selected: name === group }, words)));
  const sorted = [...groups].sort(([one], [other]) => one.localeCompare(other, "en"));
  return [
    heading("Jobs"), make("p", { class: "lead" }, totals(jobs)), leftOut(), refusedJobs(),
    jobs.length ? make("div", { class: "bar-of-controls" }, make("label", { for: "group" }, "Group by"), chooser) : null,
    portions(sorted, 50, (part) => make("div", {}, part.map(([name, list]) => jobGroup(noun, name, list, groups.size === 1 || jobs.length <= 300))), "groups"),
  ];
}

function jobGroup(noun, name, list, isOpen) {
  const group = make("details", { class: "group" }, make("summary", {}, make("h2", {}, `${noun} ${name}`), make("span", { class: "sum" }, totals(list))));
  const open = () => { if (group.open && group.children.length === 1) group.append(jobTable(list, `Jobs of ${noun} ${name}`, noun)); };
  group.addEventListener("toggle", open);
  group.open = isOpen;
  open();
  return group;
}

function refusedJobs() {
  if (!refused.length) return null;
  const show = (part) => table("Jobs that are not compiled", ["Job", "Kind", "Cluster", "Why", "Place"], part.map((job) => [fullName(job), job.kind, clusterName(job) ?? "", link("/findings/error", sentence(job.cause)), place(job.project, job.mistake.file, job.mistake.line)]));
  return make("section", { class: "alert grave" }, make("h2", {}, level("error", "error"), ` ${count(refused.length, "job is", "jobs are")} not compiled`), portions(refused, 50, show, "jobs"));
}

function jobView(project, at) {
  const job = projects[project]?.jobs[at];
  if (!job) return missing();
  const node = runtimeOf(job), own = findingsAt(job), bound = job.acceleratorHours;
  return [
    make("p", {}, link("/jobs", "\u2190 All jobs")), heading(fullName(job)), make("p", { class: "lead" }, `${job.kind}, ${totals([job]).replace(/^1 job, /, "")}`),
    facts([
      ["Written at", place(job.project, job.file, job.line)], ["Cluster", clusterName(job)], ["Queue", job.queue],
      ["Runtime", node ? link(node.address, node.name) : ""], ["Framework", job.framework],
      ["Capacity", job.fit ? [answerOf(job.fit), job.fit.where ? `, ${job.fit.where}` : "", job.fit.reason ? [": ", sentence(job.fit.reason)] : "", job.fit.change ? make("div", {}, "Help: ", sentence(job.fit.change)) : ""] : ""],
      ["Gang", job.gangs.map((gang) => `${gang.name} of ${count(gang.pods, "pod")}`).join(", ")],
      ["Rendering", job.rendering ? [code(`${job.project.prefix}${job.rendering.file}`), `: ${job.rendering.state}`] : ""], ["Run", String(job.run)],
    ]),
    make("h2", {}, "What runs"), jobPicture(job), rolesTable(job),
    facts([
      ["Starts", job.held ? `not yet: ${job.held}` : job.order.map((stage) => stage.join(" + ")).join(", then ")],
      ["Addresses", job.roles.filter((role) => role.addresses).map((role) => make("div", {}, code(role.addresses)))], ["Images", [...new Set(job.roles.flatMap((role) => role.images))].map((image) => make("div", {}, code(image)))], ["Volumes", volumesOf(job)],
      ["World size", job.worldSize === null ? "" : number(job.worldSize)], ["Ends when", `${job.success} have succeeded`],
      ["Restarts", typeof job.restarts === "number" ? `at most ${job.restarts}` : job.restarts ?? "not known"], ["Fails at", job.endedBy.join("; ")],
      ["Time limit", sentence(bound.hours === null ? `none: ${bound.why}` : `${number(bound.hours)} accelerator hours (${bound.why})`)],
    ]),
    make("h2", {}, own.length ? count(own.length, "finding") : "No findings in this job"), own.map((finding) => findingBlock(finding)),
    manifests(job, at),
  ];
}

function rolesTable(job) {
  return table("Roles", ["Role", "Jobs \u00d7 pods", "Hosts", "Ranks", "Accelerators per pod", "Processes per pod", "Containers", "Starts"], job.roles.map((role) => [
    role.name, `${number(role.jobs)} \u00d7 ${number(role.podsPerJob)}`, [...new Set(role.hosts)].join(" to "), role.ranks ? [...new Set(role.ranks)].join(" to ") : "",
    amounts(role.accelerators), role.processes === null ? "" : String(role.processes), role.containers.join(", "),
    role.after.length ? `after ${role.after.join(", ")}` : "at once",
  ]));
}

function volumesOf(job) {
  const kept = (role) => Object.entries(role.volumes).map(([name, kind]) => `${name} (${kind})`).join(", ");
  return job.roles.filter((role) => Object.keys(role.volumes).length).map((role) => make("div", {}, `${role.name}: ${kept(role)}`));
}

function manifests(job, at) {
  const objects = details()[job.project.number].objects[at];
  return [
    make("h2", {}, "Manifests"),
    objects ? make("p", { class: "lead" }, "Each field names the layer that set it; choose one to see where it is written. Use the arrow keys to move between fields.")
      : make("p", { class: "alert" }, "The fields of this job are not on this page: ", code(`trainc why ${job.project.prefix}${job.file}`), " prints them."),
    (objects ?? []).map((object) => manifest(job.project, object)),
  ];
}

function runtimesView(project, at) {
  const chosen = projects[project]?.runtimes.nodes[at];
  const known = projects.filter((one) => one.runtimes.nodes.length);
  return [
    heading("Runtimes"), make("p", { class: "lead" }, "Arrows point from a runtime to the runtimes that inherit from it; dashed arrows point from a component to the runtimes that enable it."),
    known.length ? null : make("p", {}, "No job or file uses a runtime."),
    known.map((one) => [
      several ? make("h2", {}, one.name || one.folder) : null, runtimesPicture(one.runtimes, (node) => `/runtimes/${one.number}/${node}`, one.number === project ? at : -1),
      one.runtimes.nodes.length > MAX_DRAWN ? make("p", {}, `${count(one.runtimes.nodes.length - MAX_DRAWN, "node")} left out of the graph; the list has all.`) : null,
    ]),
    chosen ? runtimeDetails(chosen) : null,
    known.length ? [make("h2", {}, "All runtimes and components"), portions(runtimes, 100, runtimeTable, "runtimes")] : null,
  ];
}

function runtimeTable(nodes) {
  return table("Runtimes and components", ["Name", "Kind", "Inherits", "Used by", "Jobs", "File"], nodes.map((node) => [
    link(node.address, node.name), node.kind || "not in this project", names(node, 0), names(node, 1), node.jobs ? number(node.jobs) : "", node.file ? place(node.project, node.file, node.line) : "",
  ]));
}

// The other ends of a node's edges: what it uses (0) or what uses it (1).
function names(node, side) {
  const others = node.project.runtimes.edges.filter((edge) => edge[side] === node.at).map((edge) => node.project.runtimes.nodes[edge[1 - side]]);
  return others.map((other, at) => [at ? ", " : "", link(other.address, other.name)]);
}

function runtimeDetails(node) {
  const own = node.project.jobs.filter((job) => runtimeOf(job) === node);
  return make("section", {}, make("h2", { id: "chosen", tabindex: "-1" }, node.name),
    facts([["Kind", node.kind || "not in this project"], ["Written at", node.file ? place(node.project, node.file, node.line) : ""], ["Inherits", names(node, 0)], ["Used by", names(node, 1)]]),
    own.length ? [make("h3", {}, `${count(own.length, "job")} ${own.length === 1 ? "starts" : "start"} from it`), jobTable(own, `Jobs of ${node.name}`, "runtime")] : null,
    findings.filter((finding) => finding.project === node.project && node.file && finding.labels[0].file === node.file).map((finding) => findingBlock(finding)));
}

function findingBlock(finding, title = "h3") {
  const { project } = finding;
  const shown = finding.labels.map((label, at) => {
    const lines = Object.entries(details()[project.number].lines[label.file] ?? {}).map(([line, words]) => [Number(line), words]);
    const near = lines.filter(([line]) => Math.abs(line - label.line) <= (at ? 0 : 2));
    const end = label.end > label.column ? label.end - 1 : Infinity;
    return [make("p", {}, place(project, label.file, label.line, label.column)), near.length ? excerpt(near, label.line, [label.column - 1, end], label.text) : label.text ? make("p", {}, label.text) : null];
  });
  const tail = [["Effect: ", finding.effect], ["Help: ", finding.help], ...finding.notes.map((note) => ["Note: ", note])].filter(([, words]) => words);
  return make("article", { class: `finding ${finding.level}-side` },
    make(title, {}, level(finding.level), " ", sentence(finding.message)), make("p", { class: "soft" }, code(finding.rule), finding.jobs > 1 ? `, in ${count(finding.jobs, "job")}` : ""),
    shown, tail.map(([word, words]) => make("p", {}, make("strong", {}, word), sentence(words))), finding.why ? make("p", { class: "soft" }, sentence(finding.why)) : null);
}

function findingsView(chosen = "all") {
  const list = findings.filter((finding) => chosen === "all" || finding.level === chosen);
  const chooser = make("select", { id: "level", onchange: (event) => { location.hash = `/findings/${event.target.value}`; } },
    ["all", ...LEVELS].map((name) => make("option", { value: name, selected: name === chosen }, name)));
  const unknown = projects.flatMap((project) => Object.entries(project.unknown).map(([reason, times]) => `${reason} (${times})`));
  return [
    heading("Findings"), make("p", { class: "lead" }, findings.length ? levelsOf(findings) : "No findings.", unknown.length ? ` Skipped: ${unknown.join(", ")}.` : ""), leftOut(),
    findings.length ? make("div", { class: "bar-of-controls" }, make("label", { for: "level" }, "Show"), chooser) : null,
    portions(list, 50, (part) => make("div", {}, part.map((finding) => findingBlock(finding, "h2"))), "findings"),
  ];
}

function capacityView() {
  const known = projects.flatMap((project) => Object.entries(project.capacity).map(([name, capacity]) => ({ project, name, capacity })));
  return [
    heading("Capacity"),
    known.length ? make("p", { class: "lead" }, "The capacity of clusters, from their dumps. Each job is checked alone, with nothing else running.")
      : make("p", {}, "No cluster inventory: ", code("trainc inventory"), " prints how to create one."),
    known.map(({ project, name, capacity }) => clusterSection(project, name, capacity)),
  ];
}

function clusterSection(project, name, capacity) {
  const title = make("h2", {}, `Cluster ${clusterName({ project, cluster: name }) || project.name || "of this project"}`);
  if (capacity.trouble) return make("section", {}, title, make("p", { class: "alert" }, sentence(capacity.trouble)));
  const own = project.jobs.filter((job) => (job.cluster ?? "") === name && job.fit);
  const statuses = new Map();
  for (const job of own) statuses.set(job.fit.status, [...(statuses.get(job.fit.status) ?? []), job]);
  return make("section", {}, title,
    make("p", { class: "lead" }, `As dumped on ${capacity.date || "an unknown date"}.`, capacity.assumedEmpty.length ? ` Not in the dump, assumed empty: ${capacity.assumedEmpty.join(", ")}.` : ""),
    capacity.quotas.length ? [make("h3", {}, "Quotas"), make("p", { class: "soft" }, "Filled: in use. Hatched: the total request of these jobs. The bar spans the larger of quota and demand; the line marks the quota."), capacity.quotas.map(quotaBar)] : null,
    nodeCells(capacity),
    own.length ? [make("h3", {}, "Jobs"), make("p", {}, [...statuses].map(([status, list]) => `${list.length} ${status}`).join(", ")), portions(own, 100, fitTable, "jobs")] : null);
}

function fitTable(list) {
  return table("Capacity check of jobs", ["Job", "Answer", "Where", "Reason and help"], list.map((job) => [link(job.address, fullName(job)), answerOf(job.fit), job.fit.where, job.fit.reason || job.fit.change ? make("span", {}, sentence([job.fit.reason, job.fit.change].filter(Boolean).join("; "))) : ""]));
}

function quotaBar(quota) {
  const [nominal, used, asked] = quota.shown;
  const words = `${quota.resource}: quota ${nominal}, in use ${used}, requested ${asked}`;
  const over = quota.nominal !== null && quota.asked > quota.nominal;
  const meter = make("div", { class: "meter", "aria-hidden": "true" });
  const whole = Math.max(quota.nominal ?? 0, quota.used, quota.asked) || 1;
  for (const kind of ["asked", "used"]) {
    const part = make("span", { class: kind });
    part.style.width = `${(100 * quota[kind]) / whole}%`;
    meter.append(part);
  }
  if (quota.nominal !== null) {
    const limit = make("span", { class: "limit" });
    limit.style.width = `${(100 * quota.nominal) / whole}%`;
    meter.append(limit);
  }
  return make("div", { class: "quota" }, make("p", {}, make("strong", {}, quota.queue), ` \u00b7 ${quota.flavor} \u00b7 ${words}`, over ? [" ", level("warning", "more than the quota")] : "", quota.cohort ? make("span", { class: "soft" }, ` (cohort ${quota.cohort})`) : ""), meter);
}

function nodeCells(capacity) {
  if (!capacity.nodes.length) return null;
  const groups = new Map();
  for (const node of capacity.nodes) {
    const title = `${node.type || "nodes"} (${node.resource})`;
    groups.set(title, [...(groups.get(title) ?? []), node]);
  }
  return [
    make("h3", {}, count(capacity.nodes.length + capacity.nodesLeftOut, "node")), make("p", { class: "soft" }, "Each cell is a node, with the free and total devices at the time of the dump."),
    capacity.nodesLeftOut ? make("p", { class: "alert" }, `${count(capacity.nodesLeftOut, "node")} left out.`) : null,
    [...groups].map(([title, nodes]) => [make("h3", {}, `${title}: ${nodes.length}`), portions(nodes, 500, (part) => make("ul", { class: "cells", "aria-label": title }, part.map(nodeCell)), "nodes")]),
  ];
}

function nodeCell(node) {
  const words = `${node.free}/${node.shown}${node.closed ? "!" : ""}`;
  const cell = make("li", { class: node.closed ? "shut" : "", title: `${node.name}: ${node.free} of ${node.shown} ${node.resource} free${node.closed ? `, ${node.closed}` : ""}` });
  const taken = make("span", { class: "taken", "aria-hidden": "true" });
  taken.style.height = `${node.all ? Math.min(100, (100 * (node.system + node.jobs)) / node.all) : 0}%`;
  cell.append(taken, make("span", { class: "words" }, make("span", { class: "hidden" }, `${node.name}: `), words, node.closed ? make("span", { class: "hidden" }, ` ${node.closed}`) : ""));
  return cell;
}

function searchView(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (item) => wanted.every((word) => item.includes(word));
  const ofJob = (job) => (job.words ??= [fullName(job), job.cluster, job.queue, job.file, job.kind, job.framework, runtimeOf(job)?.name, job.fit?.status, job.rendering?.state, ...job.roles.flatMap((role) => [role.name, ...role.images])].join(" ").toLowerCase());
  const found = [
    ["Jobs", "job", jobs.filter((job) => holds(ofJob(job))), (list) => jobTable(list, "Jobs found")],
    ["Jobs that are not compiled", "refused job", refused.filter((job) => holds([fullName(job), job.kind, job.file, job.cause].join(" ").toLowerCase())), (list) => make("ul", {}, list.map((job) => make("li", {}, `${fullName(job)}: `, sentence(job.cause), " ", place(job.project, job.mistake.file, job.mistake.line))))],
    ["Runtimes", "runtime", runtimes.filter((node) => holds([node.name, node.kind, node.file].join(" ").toLowerCase())), (list) => portions(list, 100, runtimeTable, "runtimes")],
    ["Findings", "finding", findings.filter((finding) => holds([finding.rule, finding.level, finding.message, ...finding.labels.map((label) => label.file)].join(" ").toLowerCase())), (list) => portions(list, 50, (part) => make("div", {}, part.map((finding) => findingBlock(finding))), "findings")],
  ].filter(([, , list]) => list.length);
  const told = found.map(([, noun, list]) => count(list.length, noun)).join(", ") || "nothing";
  tellStatus(`${told} found`);
  return [heading(`Search: ${words}`), make("p", { class: "lead" }, `${told} found.`), found.map(([title, , list, show]) => make("section", {}, make("h2", {}, `${title} (${number(list.length)})`), show(list)))];
}
