// Pictures: a job with its roles, pods, Service and order, and the runtimes with what they inherit.

const ROLE_WIDTH = 280, COLUMN = 390, POD = 16, PODS_IN_ROW = 13, MAX_PODS = 52;

const tip = () => draw("defs", {}, draw("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, draw("path", { d: "M0 0L8 4L0 8z", class: "tip" })));
const text = (x, y, words, kind = "") => draw("text", { x, y, class: kind }, words);
const cut = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}\u2026` : words);

function roleLines(role) {
  const hosts = [...new Set(role.hosts)];
  const ranks = role.ranks && (role.ranks[0] === role.ranks[1] ? `rank ${role.ranks[0]}` : `ranks ${role.ranks[0]} to ${role.ranks[1]}`);
  return [
    `${number(role.jobs)} \u00d7 ${number(role.podsPerJob)} pods${role.processes ? `, ${typeof role.processes === "number" ? count(role.processes, "process", "processes") : `processes: ${role.processes}`} each` : ""}`,
    ranks, amounts(role.accelerators) && `${amounts(role.accelerators)} per pod`,
    ...hosts.map((host, at) => (at ? `to ${host}` : host)),
  ].filter(Boolean);
}

function roleBox(role, x, y, lines, height) {
  const box = draw("g", {}, draw("rect", { x, y, width: ROLE_WIDTH, height, rx: 8, class: "box" }), text(x + 12, y + 22, cut(role.name, 32), "strong"));
  lines.forEach((line, at) => box.append(text(x + 12, y + 42 + at * 18, cut(line, 36), at ? "faint" : "")));
  const top = y + 36 + lines.length * 18, pods = Math.min(role.pods ?? 0, MAX_PODS);
  for (let at = 0; at < pods; at += 1) {
    const first = at === 0 && role.ranks?.[0] === 0;
    box.append(draw("rect", { x: x + 12 + (at % PODS_IN_ROW) * (POD + 3), y: top + Math.floor(at / PODS_IN_ROW) * (POD + 3), width: POD, height: POD, rx: 3, class: first ? "first" : "pod" }));
  }
  if ((role.pods ?? 0) > MAX_PODS) box.append(text(x + 12, top + 4 * (POD + 3) + 12, `and ${number(role.pods - MAX_PODS)} more pods`, "faint"));
  return box;
}

function roleHeight(role, lines) {
  const rows = Math.ceil(Math.min(role.pods ?? 0, MAX_PODS) / PODS_IN_ROW);
  return 46 + lines.length * 18 + rows * (POD + 3) + ((role.pods ?? 0) > MAX_PODS ? 18 : 0);
}

function jobPicture(job) {
  const roles = new Map(job.roles.map((role) => [role.name, { role, lines: roleLines(role) }]));
  let bottom = 0;
  job.order.forEach((stage, column) => {
    let y = 10;
    for (const name of stage) {
      const place = roles.get(name);
      Object.assign(place, { x: 10 + column * COLUMN, y, height: roleHeight(place.role, place.lines) });
      y += place.height + 18;
    }
    bottom = Math.max(bottom, y);
  });
  const named = [...roles.values()].filter((place) => place.role.addresses);
  const width = Math.max(20 + (job.order.length - 1) * COLUMN + ROLE_WIDTH, 560), height = bottom + (named.length ? 62 : 0);
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Roles of ${job.name}; the table below has the same content` }, tip());
  for (const place of named) {
    const x = place.x + ROLE_WIDTH / 2;
    picture.append(draw("path", { d: `M${x} ${place.y + place.height}V${bottom + 10}`, class: "wire" }));
  }
  for (const { role, lines, x, y, height: tall } of roles.values()) picture.append(roleBox(role, x, y, lines, tall));
  for (const place of roles.values()) for (const wait of place.role.after) picture.append(...waitArrow(roles.get(wait.slice(0, wait.lastIndexOf(" "))), place, wait));
  if (named.length) {
    const service = named[0].role.addresses.split(".").slice(1).join(".");
    picture.append(draw("rect", { x: 10, y: bottom + 10, width: width - 20, height: 38, rx: 19, class: "service" }));
    picture.append(text(28, bottom + 34, cut(`Service ${service}: ${named.map((place) => place.role.addresses).join(", ")}`, Math.floor(width / 8))));
  }
  return make("figure", { tabindex: "0", "aria-label": "Picture of the job" }, picture);
}

function waitArrow(from, to, wait) {
  const x1 = from.x + ROLE_WIDTH, y1 = from.y + 24, x2 = to.x - 3, y2 = to.y + 24, middle = (x1 + x2) / 2;
  const status = wait.slice(wait.lastIndexOf(" ") + 1);
  return [
    draw("path", { d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`, class: "edge", "marker-end": "url(#tip)" }),
    text(x1 + 8, y1 - 6, status, "faint"),
  ];
}

const NODE_WIDTH = 210, NODE_HEIGHT = 46, MAX_DRAWN = 200;

// Columns from what inherits nothing to what inherits most; in each, nodes stand near those that they use.
function layout(nodes, edges) {
  const used = nodes.map(() => []);
  for (const [user, base] of edges) used[user].push(base);
  const depths = new Map();
  const depth = (node, path) => {
    if (path.has(node)) return 0; // a circle is a finding; here it must not turn forever
    if (!depths.has(node)) depths.set(node, used[node].length ? 1 + Math.max(...used[node].map((base) => depth(base, new Set([...path, node])))) : 0);
    return depths.get(node);
  };
  const columns = [], places = new Map();
  nodes.forEach((_, node) => (columns[depth(node, new Set())] ??= []).push(node));
  columns.forEach((column, at) => {
    const near = (node) => used[node].reduce((sum, base) => sum + (places.get(base)?.y ?? 0), 0) / (used[node].length || 1);
    const kind = (node) => (nodes[node].kind === "Cluster" ? 2 : nodes[node].component ? 1 : 0); // what is extended comes first
    const ordered = [...column].sort((one, other) => kind(one) - kind(other) || (at ? near(one) - near(other) : one - other));
    ordered.forEach((node, row) => places.set(node, { x: 10 + at * (NODE_WIDTH + 90), y: 10 + row * (NODE_HEIGHT + 16) }));
  });
  return places;
}

function runtimesPicture(runtimes, address, chosen) {
  const nodes = runtimes.nodes.slice(0, MAX_DRAWN);
  const edges = runtimes.edges.filter(([user, base]) => user < MAX_DRAWN && base < MAX_DRAWN);
  const places = layout(nodes, edges);
  const right = Math.max(...[...places.values()].map((place) => place.x)) + NODE_WIDTH + 14;
  const bottom = Math.max(...[...places.values()].map((place) => place.y)) + NODE_HEIGHT + 14;
  const picture = draw("svg", { viewBox: `0 0 ${right} ${bottom}`, width: right, height: bottom, role: "group", "aria-label": "What runtimes inherit; the list below has the same content" }, tip());
  for (const [user, base, how] of edges) {
    const from = places.get(base), to = places.get(user);
    const x1 = from.x + NODE_WIDTH, y1 = from.y + NODE_HEIGHT / 2, x2 = to.x - 3, y2 = to.y + NODE_HEIGHT / 2, middle = (x1 + x2) / 2;
    picture.append(draw("path", { d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`, class: `edge ${how === "component" ? "dashed" : ""}`, "marker-end": "url(#tip)" }));
  }
  nodes.forEach((node, at) => {
    const { x, y } = places.get(at);
    const words = [node.kind || "not in this project", node.jobs ? count(node.jobs, "job") : ""].filter(Boolean).join(", ");
    picture.append(draw("a", { href: `#${address(at)}` },
      draw("rect", { x, y, width: NODE_WIDTH, height: NODE_HEIGHT, rx: node.component ? 23 : node.kind === "Cluster" ? 0 : 8, class: `box ${at === chosen ? "chosen" : ""}` }),
      text(x + 16, y + 20, cut(node.name, 26), "strong"), text(x + 16, y + 37, cut(words, 30), "faint")));
  });
  return make("figure", { tabindex: "0", "aria-label": "Graph of runtimes" }, picture);
}
