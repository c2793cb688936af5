"use strict";
(function () {
  const run = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  // Status is never told by colour alone: each has a mark and a word.
  const ENDS = {
    f: { word: "failed", mark: "×" }, u: { word: "unreachable", mark: "!" }, i: { word: "ignored", mark: "~" },
    c: { word: "changed", mark: "◆" }, o: { word: "ok", mark: "·" }, s: { word: "skipped", mark: "–" },
  };

  // Texts of hosts become text nodes, never markup.
  function el(tag, attrs, ...children) {
    const node = document.createElement(tag);
    for (const [k, v] of Object.entries(attrs || {})) {
      if (k === "class") node.className = v; else if (k.startsWith("on")) node.addEventListener(k.slice(2), v); else node.setAttribute(k, v);
    }
    for (const c of children) if (c !== null && c !== undefined && c !== "") node.append(c);
    return node;
  }
  const mark = (s) => el("span", { class: "mark", "aria-hidden": "true" }, ENDS[s].mark);
  const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");
  function long(ms) {
    if (ms < 1000) return ms + " ms";
    if (ms < 60000) return (ms / 1000).toFixed(1) + " s";
    const s = Math.round(ms / 1000);
    return s < 3600 ? Math.floor(s / 60) + " min " + (s % 60) + " s" : Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
  }
  const when = (ms) => new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

  // The details of a task by host.
  const detailsOf = run.tasks.map((t) => {
    const m = new Map();
    for (let i = 0; i < t.details.length; i += 2) m.set(t.details[i], run.details[t.details[i + 1]]);
    return m;
  });
  const timesOf = new Map();
  function timeOf(task, host) {
    if (!timesOf.has(task)) {
      const m = new Map();
      let n = 0;
      for (let h = 0; h < run.hosts.length; h++) if (run.tasks[task].ends[h] !== ".") m.set(h, run.tasks[task].times[n++]);
      timesOf.set(task, m);
    }
    return timesOf.get(task).get(host);
  }

  // Head.
  const total = [0, 0, 0, 0, 0, 0, 0];
  for (const c of run.counts || []) c.forEach((n, i) => { total[i] += n; });
  const drifted = run.findings.filter((f) => f.kind === "drift");
  function head() {
    $("title").textContent = run.names.join(", ");
    const kind = run.kind === "drift" ? "Drift" : run.options.check ? "Check run" : "Run";
    $("kicker").textContent = kind + " " + run.id;
    const facts = [when(run.start), run.finished ? "took " + long(run.took) : "unfinished", "by " + run.user];
    if (run.options.limit) facts.push("limited to " + run.options.limit);
    if (run.options.tags) facts.push("tags " + run.options.tags.join(", "));
    $("facts").textContent = facts.join(" · ");
    const v = verdict();
    $("verdict").textContent = v[1];
    $("verdict").classList.add(v[0]);
    $("foot").textContent = "play " + run.version + " · " + run.options.playbooks.join(", ");
    for (const [n, s, word] of [[run.hosts.length, "", "hosts"], [total[0], "o", "ok"], [total[1], "c", "changed"], [total[3], "f", "failed"],
      [total[2], "u", "unreachable"], [total[4], "s", "skipped"], [total[5], "", "rescued"], [total[6], "i", "ignored"]]) {
      $("tiles").append(el("li", { class: s + (n === 0 ? " zero" : "") }, el("b", {}, n.toLocaleString()), el("span", {}, s ? mark(s) : "", word)));
    }
  }
  function verdict() {
    if (!run.finished) return ["warn", "Unfinished"];
    if (run.code === 99) return ["warn", "Interrupted"];
    if (total[2] > 0) return ["bad", "! " + plural(run.counts.filter((c) => c[2] > 0).length, "host") + " unreachable"];
    if (total[3] > 0) return ["bad", "× " + plural(run.counts.filter((c) => c[3] > 0).length, "host") + " failed"];
    if (drifted.length > 0) return ["warn", "◆ " + drifted.length + " drifted"];
    if (run.code !== 0) return ["bad", "Exit code " + run.code];
    return ["good", "✓ " + (run.kind === "drift" ? "No drift" : total[1] > 0 ? "Done" : "Nothing to change")];
  }

  // One result in full.
  function diffBlock(text) {
    const pre = el("pre", { class: "diff", tabindex: "0" });
    for (const line of text.replace(/\n$/, "").split("\n")) {
      const kind = /^(\+\+\+|---|@@)/.test(line) ? "hunk" : line[0] === "+" ? "add" : line[0] === "-" ? "del" : "";
      pre.append(el("span", { class: kind }, line || " "));
    }
    return pre;
  }
  function detailBody(d) {
    const out = [];
    if (!d) return out;
    const rows = [["return code", d.rc], ["file", d.path], ["ran on", d.delegated_to], ["attempts", d.attempts], ["at", d.place]].filter((r) => r[1] !== undefined && r[1] !== "");
    if (rows.length) out.push(el("dl", {}, ...rows.flatMap((r) => [el("dt", {}, r[0]), el("dd", {}, String(r[1]))])));
    for (const [name, text] of [["message", d.msg], ["hint", d.hint], ["stderr", d.stderr], ["stdout", d.stdout]]) {
      if (text) out.push(el("h4", {}, name), el("pre", { class: "text", tabindex: "0" }, text));
    }
    if (d.diff) out.push(el("h4", {}, "diff"), diffBlock(d.diff));
    for (const it of d.items || []) {
      const s = Object.keys(ENDS).find((k) => ENDS[k].word === it.status) || "o";
      out.push(lazy(() => detailBody(it), { class: s }, mark(s), el("b", {}, it.item), el("span", { class: "where" }, it.status)));
    }
    return out;
  }
  // lazy is a <details> whose body is made when it is first opened.
  function lazy(make, attrs, ...summary) {
    const d = el("details", attrs, el("summary", {}, ...summary));
    d.addEventListener("toggle", () => { if (d.open && d.children.length === 1) d.append(el("div", { class: "body" }, ...make())); });
    return d;
  }
  function show(task, host, focus) {
    const t = run.tasks[task], s = t.ends[host], panel = $("detail");
    panel.replaceChildren();
    if (s === ".") {
      panel.append(el("h3", {}, run.hosts[host]), el("p", { class: "quiet" }, t.name + " did not run on this host."));
      return;
    }
    panel.append(el("div", { class: s }, el("h3", {}, mark(s), " " + ENDS[s].word + " on " + run.hosts[host])),
      el("dl", {}, el("dt", {}, "task"), el("dd", {}, t.name + (t.handler ? " (handler)" : "")), el("dt", {}, "module"), el("dd", {}, t.action),
        el("dt", {}, "place"), el("dd", {}, t.place), el("dt", {}, "took"), el("dd", {}, long(timeOf(task, host) || 0))), ...detailBody(detailsOf[task].get(host)));
    if (focus) panel.focus();
  }

  // Failures and changes, grouped by task and, of failures, by message.
  function groups(wanted, byText) {
    const found = new Map();
    run.tasks.forEach((t, task) => {
      for (let host = 0; host < run.hosts.length; host++) {
        if (!wanted.includes(t.ends[host])) continue;
        const d = detailsOf[task].get(host), key = task + "\n" + t.ends[host] + "\n" + (byText && d ? d.msg || d.stderr || "" : "");
        if (!found.has(key)) found.set(key, { task, status: t.ends[host], hosts: [], why: d ? d.msg || d.stderr || "" : "" });
        found.get(key).hosts.push(host);
      }
    });
    return [...found.values()];
  }
  // few appends what make makes of a list: the first ones, and the rest when
  // asked for.
  function few(list, into, make) {
    const FIRST = 8;
    $(into).append(...list.slice(0, FIRST).map(make));
    if (list.length <= FIRST) return;
    const more = el("button", { type: "button" }, "Show " + (list.length - FIRST) + " more");
    more.addEventListener("click", () => more.replaceWith(...list.slice(FIRST).map(make)));
    $(into).append(more);
  }
  function groupList(list, into, section, withReason) {
    if (list.length === 0) return;
    $(section).hidden = false;
    few(list, into, (g) => {
      const t = run.tasks[g.task];
      const one = g.hosts.length === 1;
      const make = () => one ? detailBody(detailsOf[g.task].get(g.hosts[0])) :
        g.hosts.map((h) => lazy(() => { const b = detailBody(detailsOf[g.task].get(h)); return b.length ? b : [el("p", { class: "quiet" }, "Nothing more was kept.")]; }, {}, el("b", {}, run.hosts[h]), el("span", { class: "where" }, long(timeOf(g.task, h) || 0))));
      return lazy(make, { class: g.status }, mark(g.status), el("b", {}, t.name), el("span", {}, one ? run.hosts[g.hosts[0]] : plural(g.hosts.length, "host")),
        el("span", { class: "where" }, t.place), withReason && g.why ? el("span", { class: "why" }, g.why) : "");
    });
  }
  function drift() {
    if (run.kind !== "drift") return;
    $("drift").hidden = false;
    if (run.findings.length === 0) $("driftlist").append(el("p", { class: "quiet" }, "Every host is as the playbooks say."));
    few(drifted, "driftlist", (f) => lazy(() => [facts([["item", f.item], ["file", f.path], ["place", f.place]]), ...(f.diff ? [el("h4", {}, "diff"), diffBlock(f.diff)] : [])],
        { class: "c" }, mark("c"), el("b", {}, f.host), el("span", {}, f.task), el("span", { class: "quiet file" }, f.path || ""), el("span", { class: "where" }, f.new ? "new" : "since " + when(f.since))));
    const same = new Map();
    for (const f of run.findings) {
      if (f.kind === "drift") continue;
      const key = [f.kind, f.task, f.item, f.reason, f.place].join("\n");
      if (!same.has(key)) same.set(key, { f, hosts: [] });
      same.get(key).hosts.push(f.host);
    }
    few([...same.values()], "unknownlist", ({ f, hosts }) => lazy(() => [facts([["item", f.item], ["place", f.place], ["reason", f.reason], ["hosts", hosts.join(", ")]])],
        { class: "s" }, el("span", { class: "mark", "aria-hidden": "true" }, "?"), el("b", {}, f.task), el("span", {}, hosts.length === 1 ? hosts[0] : plural(hosts.length, "host")),
        el("span", { class: "where" }, f.kind), el("span", { class: "why" }, f.reason || "")));
  }
  function facts(rows) {
    return el("dl", {}, ...rows.filter((r) => r[1]).flatMap((r) => [el("dt", {}, r[0]), el("dd", {}, r[1])]));
  }

  // The matrix: one canvas as large as what can be seen, painted anew at each
  // scroll, so that its cost does not grow with the number of hosts.
  const CELL = 16, HEAD = 26;
  const view = { hosts: [], tasks: [], row: 0, col: 0, label: 120 };
  const matrix = $("matrix"), canvas = $("cells");
  let colours = {};
  function readColours() {
    const css = getComputedStyle(document.documentElement);
    for (const name of ["ok", "changed", "failed", "ignored", "skipped", "unreachable", "ink", "soft", "line", "card", "well", "focus"]) colours[name] = css.getPropertyValue("--" + name).trim();
  }
  const wanted = new Set(Object.keys(ENDS));
  function filter() {
    const words = (id) => $(id).value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const byHost = words("byhost"), byTask = $("bytask").value.toLowerCase().trim();
    const all = wanted.size === Object.keys(ENDS).length;
    view.tasks = [];
    run.tasks.forEach((t, i) => {
      if (byTask && !(t.name + " " + t.action).toLowerCase().includes(byTask)) return;
      if (!all && ![...t.ends].some((s) => wanted.has(s))) return;
      view.tasks.push(i);
    });
    view.hosts = [];
    run.hosts.forEach((name, h) => {
      if (byHost.length && !byHost.some((w) => name.toLowerCase().includes(w))) return;
      if (!all && !view.tasks.some((t) => wanted.has(run.tasks[t].ends[h]))) return;
      view.hosts.push(h);
    });
    view.row = Math.min(view.row, Math.max(0, view.hosts.length - 1));
    view.col = Math.min(view.col, Math.max(0, view.tasks.length - 1));
    $("matrixhint").textContent = plural(view.hosts.length, "host") + " of " + run.hosts.length + ", " + plural(view.tasks.length, "task") + " of " + run.tasks.length;
    resize();
  }
  function resize() {
    const narrow = matrix.clientWidth < 480;
    const longest = view.hosts.reduce((n, h) => Math.max(n, run.hosts[h].length), 4);
    view.label = Math.min(longest * 8 + 24, narrow ? 120 : 240);
    $("size").style.width = view.label + view.tasks.length * CELL + "px";
    $("size").style.height = HEAD + view.hosts.length * CELL + "px";
    matrix.style.height = Math.max(120, HEAD + view.hosts.length * CELL + 20) + "px"; // its style has a maximum
    paint();
  }
  let due = false;
  function soon() { if (!due) { due = true; requestAnimationFrame(() => { due = false; paint(); }); } }
  function paint() {
    const w = matrix.clientWidth, h = matrix.clientHeight, ratio = window.devicePixelRatio || 1;
    canvas.width = w * ratio; canvas.height = h * ratio;
    canvas.style.width = w + "px"; canvas.style.height = h + "px";
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.fillStyle = colours.card; g.fillRect(0, 0, w, h);
    const x0 = view.label - matrix.scrollLeft, y0 = HEAD - matrix.scrollTop;
    const firstCol = Math.max(0, Math.floor(matrix.scrollLeft / CELL)), lastCol = Math.min(view.tasks.length, Math.ceil((matrix.scrollLeft + w - view.label) / CELL));
    const firstRow = Math.max(0, Math.floor(matrix.scrollTop / CELL)), lastRow = Math.min(view.hosts.length, Math.ceil((matrix.scrollTop + h - HEAD) / CELL));
    for (let r = firstRow; r < lastRow; r++) {
      if (r === view.row) { g.fillStyle = colours.well; g.fillRect(0, y0 + r * CELL, w, CELL); }
      for (let c = firstCol; c < lastCol; c++) cell(g, run.tasks[view.tasks[c]].ends[view.hosts[r]], x0 + c * CELL, y0 + r * CELL);
    }
    if (view.hosts.length && view.tasks.length) {
      g.strokeStyle = colours.focus; g.lineWidth = 2;
      g.strokeRect(x0 + view.col * CELL + 1, y0 + view.row * CELL + 1, CELL - 2, CELL - 2);
    }
    labels(g, w, h, y0, firstRow, lastRow);
    heads(g, w, x0, firstCol, lastCol);
  }
  function cell(g, s, x, y) {
    if (s === ".") return;
    const on = wanted.has(s), mx = x + CELL / 2, my = y + CELL / 2;
    g.globalAlpha = on ? 1 : 0.12;
    g.fillStyle = g.strokeStyle = colours[ENDS[s].word]; g.lineWidth = 2;
    g.beginPath();
    if (s === "o") { g.arc(mx, my, 2.5, 0, 7); g.fill(); }
    else if (s === "c") { g.moveTo(mx, my - 6); g.lineTo(mx + 6, my); g.lineTo(mx, my + 6); g.lineTo(mx - 6, my); g.fill(); }
    else if (s === "s") { g.moveTo(mx - 3, my); g.lineTo(mx + 3, my); g.stroke(); }
    else if (s === "i") { g.arc(mx, my, 4, 0, 7); g.stroke(); }
    else {
      g.fillRect(x + 1, y + 1, CELL - 2, CELL - 2);
      g.strokeStyle = colours.card; g.beginPath();
      if (s === "f") { g.moveTo(mx - 3, my - 3); g.lineTo(mx + 3, my + 3); g.moveTo(mx + 3, my - 3); g.lineTo(mx - 3, my + 3); }
      else { g.moveTo(mx, my - 4); g.lineTo(mx, my + 1); g.moveTo(mx, my + 3); g.lineTo(mx, my + 5); }
      g.stroke();
    }
    g.globalAlpha = 1;
  }
  function labels(g, w, h, y0, first, last) {
    g.fillStyle = colours.card; g.fillRect(0, HEAD, view.label, h);
    g.font = "12px system-ui, sans-serif"; g.textBaseline = "middle";
    for (let r = first; r < last; r++) {
      g.fillStyle = r === view.row ? colours.ink : colours.soft;
      g.fillText(fit(g, run.hosts[view.hosts[r]], view.label - 16), 10, y0 + r * CELL + CELL / 2 + 1);
    }
    g.strokeStyle = colours.line; g.lineWidth = 1; g.beginPath(); g.moveTo(view.label - .5, 0); g.lineTo(view.label - .5, h); g.stroke();
  }
  function heads(g, w, x0, first, last) {
    g.fillStyle = colours.card; g.fillRect(0, 0, w, HEAD);
    g.strokeStyle = colours.line; g.beginPath(); g.moveTo(0, HEAD - .5); g.lineTo(w, HEAD - .5); g.stroke();
    g.fillStyle = colours.soft; g.font = "11px system-ui, sans-serif";
    g.save(); g.beginPath(); g.rect(view.label, 0, w, HEAD); g.clip();
    for (let c = first; c < last; c++) {
      const n = view.tasks[c];
      if (c === view.col || (n + 1) % 5 === 0 || c === 0) {
        if (c !== view.col && Math.abs(c - view.col) < 3) continue;
        g.fillStyle = c === view.col ? colours.ink : colours.soft;
        g.textAlign = "center"; g.fillText(String(n + 1), x0 + c * CELL + CELL / 2, HEAD / 2);
      }
    }
    g.restore(); g.textAlign = "left";
    g.fillStyle = colours.soft; g.fillText("task", Math.max(10, view.label - 34), HEAD / 2);
  }
  function fit(g, text, width) {
    if (g.measureText(text).width <= width) return text;
    while (text.length > 1 && g.measureText(text + "…").width > width) text = text.slice(0, -1);
    return text + "…";
  }
  function move(row, col) {
    if (!view.hosts.length || !view.tasks.length) return;
    view.row = Math.max(0, Math.min(view.hosts.length - 1, row));
    view.col = Math.max(0, Math.min(view.tasks.length - 1, col));
    const x = view.col * CELL, y = view.row * CELL, w = matrix.clientWidth - view.label, h = matrix.clientHeight - HEAD;
    if (x < matrix.scrollLeft) matrix.scrollLeft = x; else if (x + CELL > matrix.scrollLeft + w) matrix.scrollLeft = x + CELL - w;
    if (y < matrix.scrollTop) matrix.scrollTop = y; else if (y + CELL > matrix.scrollTop + h) matrix.scrollTop = y + CELL - h;
    paint();
    show(view.tasks[view.col], view.hosts[view.row], false);
  }
  function at(e) {
    const box = matrix.getBoundingClientRect();
    const x = e.clientX - box.left - matrix.clientLeft - view.label + matrix.scrollLeft, y = e.clientY - box.top - matrix.clientTop - HEAD + matrix.scrollTop;
    if (e.clientX - box.left < view.label || e.clientY - box.top < HEAD) return null;
    const col = Math.floor(x / CELL), row = Math.floor(y / CELL);
    return row < view.hosts.length && col < view.tasks.length ? [row, col] : null;
  }
  function listen() {
    matrix.addEventListener("scroll", soon, { passive: true });
    matrix.addEventListener("click", (e) => { const p = at(e); if (p) move(p[0], p[1]); });
    matrix.addEventListener("mousemove", (e) => {
      const p = at(e);
      matrix.title = p ? run.hosts[view.hosts[p[0]]] + " · " + (view.tasks[p[1]] + 1) + " " + run.tasks[view.tasks[p[1]]].name : "";
    });
    matrix.addEventListener("keydown", (e) => {
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-20, 0], PageDown: [20, 0] };
      if (steps[e.key]) move(view.row + steps[e.key][0], view.col + steps[e.key][1]);
      else if (e.key === "Home") move(e.ctrlKey ? 0 : view.row, 0);
      else if (e.key === "End") move(e.ctrlKey ? view.hosts.length - 1 : view.row, view.tasks.length - 1);
      else if (e.key === "Enter" && view.hosts.length && view.tasks.length) show(view.tasks[view.col], view.hosts[view.row], true);
      else return;
      e.preventDefault();
    });
    for (const id of ["byhost", "bytask"]) $(id).addEventListener("input", filter);
    $("filters").addEventListener("submit", (e) => e.preventDefault());
    for (const [s, end] of Object.entries(ENDS)) {
      if (!run.tasks.some((t) => t.ends.includes(s))) continue;
      const b = el("button", { type: "button", class: s, "aria-pressed": "true", "data-status": end.word }, mark(s), end.word);
      b.addEventListener("click", () => {
        if (wanted.has(s)) wanted.delete(s); else wanted.add(s);
        b.setAttribute("aria-pressed", String(wanted.has(s)));
        filter();
      });
      $("bystatus").append(b);
    }
    window.addEventListener("resize", resize);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); paint(); });
  }

  // Time: what ran when, what it waited for.
  function times(order) {
    const critical = new Map(run.path.map((p) => [p[0], p]));
    const whole = Math.max(1, run.took, ...run.tasks.map((t) => t.start + t.took));
    let list = run.tasks.map((t, i) => i).filter((i) => /[^.]/.test(run.tasks[i].ends));
    if (order === "slowest") list.sort((a, b) => run.tasks[b].took - run.tasks[a].took);
    if (order === "critical") list = run.path.map((p) => p[0]);
    const rows = list.slice(0, 400).map((i) => {
      const t = run.tasks[i], c = critical.get(i);
      const track = el("div", { class: "track" }, bar("bar", t.start, t.took, whole));
      if (c) track.append(bar("crit", c[2], c[3], whole));
      const name = (i + 1) + "  " + t.name + (c ? "  (" + run.hosts[c[1]] + ")" : "");
      return el("li", { title: t.place }, el("span", { class: "name" }, name), track, el("span", { class: "long" }, long(order === "critical" ? c[3] : t.took)));
    });
    $("times").replaceChildren(...rows);
    for (const id of ["intime", "slowest", "critical"]) $(id).setAttribute("aria-pressed", String(id === order));
  }
  function bar(kind, start, took, whole) {
    const b = el("div", { class: kind });
    b.style.left = (100 * start / whole).toFixed(3) + "%";
    b.style.width = Math.min(100 - 100 * start / whole, 100 * took / whole).toFixed(3) + "%";
    return b;
  }
  function timeHint() {
    const sum = run.path.reduce((n, p) => n + p[3], 0);
    const slow = run.tasks.reduce((best, t, i) => t.took > (best < 0 ? -1 : run.tasks[best].took) ? i : best, -1);
    $("timehint").append(el("span", { class: "key" }), "from the first host's start to the last one's end; ", el("span", { class: "key hot" }), "the host that the run waited for.",
      run.path.length ? " The critical path is " + plural(run.path.length, "step") + " long and took " + long(sum) + (slow >= 0 ? "; the slowest task is " + run.tasks[slow].name + " with " + long(run.tasks[slow].took) : "") + "." : "");
  }

  readColours();
  head();
  drift();
  groupList(groups("fu", true), "failurelist", "failures", true);
  groupList(groups("c", false), "changelist", "changes", false);
  listen();
  filter();
  timeHint();
  times("intime");
  for (const id of ["intime", "slowest", "critical"]) $(id).addEventListener("click", () => times(id));
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
