// Manifests as lines of YAML, each of which says where its value comes from.

const details = () => (details.parsed ??= JSON.parse(document.getElementById("details").textContent));

function place(project, file, line, column = 0) {
  return code(`${file.startsWith("trainc:") ? "" : project.prefix}${file}:${line}${column ? `:${column}` : ""}`);
}

function sourceLine(project, file, line) {
  const words = details()[project.number].lines[file]?.[line];
  return words === undefined ? null : excerpt([[line, words.trim()]], line);
}

function excerpt(lines, at, span = null, label = "") {
  return make("ol", { class: "excerpt", tabindex: "0", "aria-label": "Lines of the file" }, lines.map(([line, words]) => {
    const marked = line === at && span ? [words.slice(0, span[0]), make("mark", {}, words.slice(span[0], span[1]) || " "), words.slice(span[1])] : words;
    return make("li", { class: line === at ? "at" : "" }, make("span", { class: "number" }, String(line)), make("span", {}, marked, line === at && label ? make("span", { class: "label" }, `  ${label}`) : ""));
  }));
}

// The fields of an object: those of its shape, but for the ones that this job has of its own.
function fieldsOf(project, object) {
  const { tables } = details()[project.number];
  const [label, shape, ...changes] = object;
  const numbers = [...tables.shapes[shape]];
  for (let at = 0; at < changes.length; at += 2) numbers[changes[at]] = changes[at + 1];
  const fields = numbers.map((index) => {
    const [path, value, setter, beaten] = tables.fields[index];
    const [shown, ...steps] = tables.paths[path];
    return { shown, steps, value: tables.values[value], setter, beaten };
  });
  return { label: tables.texts[label], fields };
}

function setterOf(project, index) {
  const { tables } = details()[project.number];
  const [layer, who, by, ...spans] = tables.setters[index];
  const places = [];
  for (let at = 0; at < spans.length; at += 3) places.push([tables.texts[spans[at]], spans[at + 1], spans[at + 2]]);
  return { layer: tables.texts[layer], who: tables.texts[who], by: tables.texts[by], places };
}

function layerWords({ layer, who, by }) {
  if (layer === "computed") return by ? `computed (${by})` : "written";
  return who ? `${layer} (${who})` : layer;
}

function spelled(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  if (value.includes("\n")) return `|\n${value.replace(/\n$/, "")}`;
  const isPlain = /^[\w/.$(][\w ./$()@%+=,;*-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n|~|[\d.+-][\d.eE_+:-]*)$/i.test(value);
  return isPlain ? value : JSON.stringify(value);
}

// Lines as YAML has them: keys that lead to a field stand above it, an item of a list begins with a dash.
function* yamlLines(fields) {
  let before = [];
  for (const field of fields) {
    const { steps } = field;
    let same = 0;
    while (same < steps.length - 1 && same < before.length && steps[same] === before[same]) same += 1;
    let dash = "", indent = depthOf(steps, same);
    for (let at = same; at < steps.length; at += 1) {
      const last = at === steps.length - 1;
      if (typeof steps[at] === "number") {
        dash += "- ";
        if (last) yield { indent, words: `${dash}${spelled(field.value)}`, field };
      } else {
        const words = `${dash}${steps[at]}:`;
        yield last ? { indent, words: `${words} ${spelled(field.value)}`, field } : { indent, words };
        indent += dash.length + (typeof steps[at + 1] === "number" ? 0 : 2);
        dash = "";
      }
    }
    before = steps;
  }
}

// Two blanks for each key below another one; a list stands below its key without more, its items two further in.
function depthOf(steps, length) {
  let indent = 0;
  for (let at = 0; at < length; at += 1) if (typeof steps[at] === "number" || typeof steps[at + 1] !== "number") indent += 2;
  return indent;
}

function originPanel(project, field) {
  const setter = setterOf(project, field.setter);
  const { tables } = details()[project.number];
  const beaten = field.beaten < 0 ? [] : tables.beaten[field.beaten];
  const others = [];
  for (let at = 0; at < beaten.length; at += 2) others.push([setterOf(project, beaten[at]), tables.values[beaten[at + 1]]]);
  const places = setter.places.map(([file, line, column]) => [place(project, file, line, column), sourceLine(project, file, line)]);
  const verb = setter.layer === "computed" ? (setter.by ? `computed by ${setter.by}` : "written") : `set by ${layerWords(setter)}`;
  const through = setter.by && setter.layer !== "computed" ? ` by ${setter.by}` : "";
  return make("div", { class: "origin", role: "group", "aria-label": `Where ${field.shown} comes from` },
    make("p", {}, code(field.shown)),
    make("p", {}, make("strong", {}, verb), through, places.length ? (setter.by ? ", from " : " at ") : "", places.length === 1 ? places[0][0] : ""),
    places.map(([where, line], at) => [places.length > 1 || at ? make("p", {}, where) : null, line]),
    others.length ? [make("p", {}, "It takes precedence over:"), make("ol", {}, others.map(([other, value]) => make("li", {},
      `${layerWords(other)}: `, code(spelled(value)), other.places.map(([file, line, column]) => [" at ", place(project, file, line, column)]))))] : null);
}

function manifest(project, object) {
  const { label, fields } = fieldsOf(project, object);
  const list = make("ul", { class: "manifest", "aria-label": `Fields of ${label}` });
  const buttons = [];
  for (const { indent, words, field } of yamlLines(fields)) {
    const line = make("span", { class: "text" }, words);
    line.style.setProperty("--indent", indent);
    if (!field) {
      list.append(make("li", {}, make("span", { class: "key" }, line)));
      continue;
    }
    const tag = layerWords(setterOf(project, field.setter));
    const button = make("button", { type: "button", "aria-expanded": "false", tabindex: buttons.length ? "-1" : "0" }, line, make("span", { class: "tag" }, tag));
    button.addEventListener("click", () => toggleOrigin(button, project, field));
    buttons.push(button);
    list.append(make("li", {}, button));
  }
  list.addEventListener("keydown", (event) => moveFocus(event, buttons));
  return make("section", {}, make("h3", {}, label), list);
}

function toggleOrigin(button, project, field) {
  const isOpen = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!isOpen));
  if (isOpen) button.nextElementSibling.remove();
  else button.after(originPanel(project, field));
}

// One stop for the tab key in each manifest; arrows, Home and End move inside of it.
function moveFocus(event, buttons) {
  const at = buttons.indexOf(event.target);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (at < 0 || to === undefined || !buttons[to]) return;
  event.preventDefault();
  buttons[at].tabIndex = -1;
  buttons[to].tabIndex = 0;
  buttons[to].focus();
}
