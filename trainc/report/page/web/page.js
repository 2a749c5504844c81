// The address behind the # says which view is shown: links, the back button and a reload all work.

const VIEWS = { jobs: "Jobs", runtimes: "Runtimes", findings: "Findings", capacity: "Capacity" };
const heading = (words) => make("h1", { tabindex: "-1" }, words);
const missing = () => [heading("Not here"), make("p", {}, "There is no view at this address. ", link("/jobs", "All jobs"))];
const tellStatus = (words) => { document.getElementById("status").textContent = words; };

function viewOf([name, first, second]) {
  if (name === "job") return jobView(Number(first), Number(second));
  if (name === "runtimes") return runtimesView(first === undefined ? -1 : Number(first), Number(second));
  if (name === "search") return searchView(first ?? "");
  if (name === "findings") return findingsView(first);
  if (name === "capacity") return capacityView();
  return name === undefined || name === "jobs" ? jobsView(first) : missing();
}

// A mistake of ours must not leave the former view below a new address.
function drawn(address) {
  try { return viewOf(address); } catch (error) {
    console.error(error);
    return [heading("This view cannot be displayed"), make("p", {}, `Please report this as a bug in trainc: ${error}`)];
  }
}

// Parts that cannot be decoded are looked for as they are: an address is a text of strangers as well.
function parts() {
  return location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
}

function show(isFirst = false) {
  const address = parts(), main = document.getElementById("main"), search = document.getElementById("search");
  const content = drawn(address);
  main.replaceChildren(...content.flat(3).filter(Boolean));
  const current = address[0] === "job" ? "jobs" : address[0] ?? "jobs";
  for (const item of document.querySelectorAll("nav a")) {
    if (item.dataset.view === current) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
  }
  document.title = `${main.querySelector("h1").textContent} - ${title}`;
  if (document.activeElement === search) return; // whoever types goes on typing
  search.value = address[0] === "search" ? address[1] ?? "" : "";
  if (isFirst) return;
  const target = document.getElementById("chosen") ?? main.querySelector("h1");
  target.focus();
  if (target.id === "chosen") target.scrollIntoView({ block: "center" }); else scrollTo(0, 0);
}

const title = document.title;
document.getElementById("brand").textContent = title;
document.getElementById("views").append(...Object.entries(VIEWS).map(([name, words]) => {
  const errors = name === "findings" ? findings.filter((finding) => finding.level === "error").length : 0;
  return make("li", {}, make("a", { href: `#/${name}`, "data-view": name }, words, errors ? ` (${count(errors, "error")})` : ""));
}));
document.getElementById("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  document.querySelector("main h1").focus();
});
let waiting = 0;
document.getElementById("search").addEventListener("input", (event) => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const words = event.target.value.trim();
    location.replace(words ? `#/search/${encodeURIComponent(words)}` : "#/jobs");
  }, 120);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
addEventListener("hashchange", () => show());
show(true);
