"use strict";
(() => {
  const view = document.getElementById("view");

  // element makes an element with attributes and content: texts, elements, or lists of these.
  const element = (name, attributes = {}, ...content) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick" || key === "oninput") made[key] = value;
      else if (value !== undefined && value !== false) made.setAttribute(key, value);
    }
    made.append(...content.flat(Infinity).filter((part) => part !== undefined && part !== null));
    return made;
  };
  const drawn = (name, attributes, ...content) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  };
  // shown is a text in which no character changes how others are shown.
  const shown = (text) => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  const count = (n) => Number(n || 0).toLocaleString("en");
  const counted = (n, thing) => `${count(n)} ${thing}${n === 1 ? "" : "s"}`;
  const four = (x) => x === undefined ? "" : Number(x).toFixed(4);
  const name = (text) => element("bdi", { class: "id" }, shown(text));

  // Where the page is: the view and what it shows, after the # of the address.
  const place = () => new URLSearchParams(location.hash.slice(1));
  const to = (of, given = {}) => "#" + new URLSearchParams({ view: of, ...given });
  const link = (of, given, ...content) => element("a", { href: to(of, given) }, ...content);

  let asked; // what is being asked for the view, which the next view ends
  const ask = async (path, given = {}) => {
    const answer = await fetch(path + "?" + new URLSearchParams(given), { signal: asked.signal });
    const value = await answer.json();
    if (value.error) throw new Error(value.error);
    return value;
  };

  const table = (heads, rows, kind = "") => element("div", { class: "scroll" }, element("table", { class: kind },
    element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col", class: head.n ? "n" : undefined }, head.n || head)))),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell, i) => element("td", { class: heads[i]?.n ? "n" : undefined }, cell)))))));
  // pages are the links to the parts of a list.
  const pages = (list, rows, thing) => {
    const offset = list.offset || 0, end = offset + rows.length;
    const step = (rel, at, isThere) => {
      const p = place();
      p.set("offset", at);
      return isThere ? element("a", { href: "#" + p, rel }, rel) : element("span", {}, rel);
    };
    return element("p", { class: "pages" }, rows.length ? `${count(offset + 1)} to ${count(end)} of ${counted(list.of, thing)}` : `no ${thing}`,
      offset > 0 || end < list.of ? [step("prev", Math.max(0, offset - 50), offset > 0), step("next", end, end < list.of)] : []);
  };
  const csv = (of) => element("p", { class: "more" }, element("a", { href: "table.csv?of=" + of, download: "" }, `All ${of} as CSV`));
  const orders = (all) => element("p", { class: "pages" }, "by", all.map(([order, text]) => {
    const p = place();
    const is = (p.get("order") || all[0][0]) === order;
    p.set("order", order);
    p.delete("offset");
    return element("a", { href: "#" + p, "aria-current": is ? "true" : undefined }, text);
  }));

  let run;
  const isBits = () => run.unit === "bits";
  const scoreHead = () => ({ n: isBits() ? "bits" : run.unit === "containment" ? "contained" : "similarity" });
  const score = (pair) => isBits() ? String(pair.hamming || 0) : four(run.unit === "containment" ? Math.max(pair.containment_a || 0, pair.containment_b || 0) : pair.jaccard);
  const compare = (a, b, text) => link("pair", { a, b }, text || "compare");
  const pairTable = (rows) => table(["one", "other", scoreHead(), ""], rows.map((pair) =>
    [name(pair.a), name(pair.b), (pair.exact ? "" : "~") + score(pair), [compare(pair.a, pair.b), pair.identical ? " identical" : ""]]));

  const views = {
    async clusters(p) {
      const order = p.get("order") || "size";
      const list = await ask("clusters", { order, offset: p.get("offset") || 0 });
      return ["Clusters", orders([["size", "documents"], ["similarity", "least similarity"], ["id", "name"]]),
        table(["cluster", { n: "documents" }, { n: "kept" }, { n: "least" }, { n: "mean" }], list.clusters.map((c) =>
          [link("cluster", { name: c.name }, name(c.url || c.name)), count(c.size), count(c.kept), four(c.least), four(c.mean)])),
        pages({ of: list.of, offset: list.offset }, list.clusters, "cluster"), csv("clusters")];
    },

    async cluster(p) {
      const list = await ask("cluster", { name: p.get("name"), offset: p.get("offset") || 0, order: p.get("order") || "auto" });
      const kept = list.documents.find((d) => d.kept) || list.documents[0];
      const parts = [["Cluster ", name(list.name)],
        element("p", {}, `${counted(list.size, "document")}, ${count(list.kept)} kept; similarities from ${four(list.least)}, mean ${four(list.mean)}`),
        orders([["auto", "document order"], ["similarity", "least similarity"], ["id", "id"]]),
        table(["document", "", scoreHead(), "text", ""], list.documents.map((d) => [
          link("pairs", { document: d.ref, id: d.id }, name(d.id)),
          d.kept ? "kept" : "removed", d.kept ? "" : four(d.similarity),
          element("div", { class: "excerpt" }, d.text ? shown(d.text) : d.ref),
          d === kept ? "" : compare(kept.ref, d.ref)])),
        pages({ of: list.size, offset: list.offset }, list.documents, "document"),
        (list.notes || []).map((note) => element("p", { class: "more" }, shown(note)))];
      if (run.has.includes("pairs")) {
        const pairs = await ask("pairs", { cluster: list.name });
        parts.push(element("h3", {}, counted(pairs.of, "pair")));
        if (list.size <= 150 && pairs.of <= pairs.rows.length) parts.push(graph(list, pairs.rows));
        parts.push(pairTable(pairs.rows.slice(0, 200)));
        if (pairs.of > 200) parts.push(element("p", { class: "more" }, `The ${Math.min(200, pairs.rows.length)} least alike are listed.`));
      }
      return parts;
    },

    async pair(p) {
      const x = await ask("pair", { a: p.get("a"), b: p.get("b") });
      const side = (label, d) => element("p", {}, `${label}: `, d.cluster ? link("cluster", { name: d.cluster }, name(d.id || d.given)) : name(d.id || d.given),
        ` ${d.bytes ? counted(d.bytes, "byte") + ", " + counted(d.words, "word") : ""}${d.cluster ? d.removed ? ", removed" : ", kept" : ""}`);
      return ["Two documents", side("A", x.a), side("B", x.b),
        element("ul", {}, x.reasons.map((reason) => element("li", {}, shown(reason)))),
        x.similarity && !x.similarity.is_given ? element("p", {}, `similarity ${four(x.similarity.jaccard)}; of A in B ${four(x.similarity.containment_a)}, of B in A ${four(x.similarity.containment_b)}`) : null,
        x.texts ? sides(x.texts) : null,
        (x.notes || []).map((note) => element("p", { class: "more" }, shown(note)))];
    },

    async documents(p) {
      const list = await ask("documents", { q: p.get("q") || "", offset: p.get("offset") || 0 });
      return [p.get("q") ? ["Documents with ", name(p.get("q"))] : "Documents in clusters",
        table(["document", "where", "", "cluster"], list.rows.map((d) => [
          link("pairs", { document: d.ref, id: d.id }, name(d.id)), name(d.url || d.ref), d.kept ? "kept" : "removed",
          link("cluster", { name: d.cluster }, counted(d.size, "document"))])),
        pages(list, list.rows, "document"), csv("documents"), run.has.includes("removed") ? csv("removed") : null];
    },

    async pairs(p) {
      const of = p.get("document"), id = p.get("id") || "";
      const list = await ask("pairs", { ...(of ? { document: of, id } : { q: p.get("q") || "" }), offset: p.get("offset") || 0 });
      return [of ? ["All pairs of ", name(id || of)] : "Pairs, the least alike first",
        pairTable(list.rows), pages(list, list.rows, "pair"), csv("pairs")];
    },

    async sources() {
      const all = run.sources.slice(0, 40);
      const shares = all.map((row) => new Map(row.in.map((share) => [share.source, share.documents])));
      return ["Sources", element("p", {}, "How many documents of a row have a near-duplicate in a column."),
        table(["source", { n: "documents" }, { n: "removed" }, ...all.map((row) => ({ n: shown(row.source) }))], all.map((row, i) =>
          [name(row.source), count(row.documents), count(row.removed), ...all.map((other) => {
            const n = shares[i].get(other.source);
            return n ? element("span", { class: "some" }, count(n)) : "";
          })]), "matrix"),
        run.sources.length > all.length ? element("p", { class: "more" }, `${count(run.sources.length - all.length)} further sources are in summary.json.`) : null];
    },

    async threshold(p) {
      const from = p.get("from") || run.threshold;
      const result = element("div", {});
      const label = element("output", {}, String(from));
      let wait, asking;
      const update = async (value) => {
        label.textContent = Number(value).toFixed(2);
        asking?.abort();
        asking = new AbortController();
        try {
          const answer = await (await fetch("threshold?from=" + value, { signal: asking.signal })).json();
          if (answer.error) throw new Error(answer.error);
          const row = (text, key) => [text, count(run.counts[key]), count(answer[key])];
          result.replaceChildren(table(["", { n: `from ${run.threshold}, as the run` }, { n: `from ${Number(value).toFixed(2)}` }], [
            row("pairs", "pairs"), row("clusters", "clusters"), row("documents in clusters", "clustered"), row("removed", "removed")], "fit"),
            element("p", { class: "command" }, element("code", {}, `${shown(run.command)} ${Number(value).toFixed(2)}`)));
        } catch (err) {
          if (err.name !== "AbortError") result.replaceChildren(problem(err));
        }
      };
      const slider = element("input", {
        type: "range", class: "slider", id: "slider", min: run.threshold, max: 1, step: .01, value: from,
        oninput: (event) => {
          clearTimeout(wait);
          label.textContent = Number(event.target.value).toFixed(2);
          wait = setTimeout(() => update(event.target.value), 150);
        },
      });
      await update(from);
      return ["Another threshold", element("label", { for: "slider" }, "Least similarity: ", label), slider, result];
    },
  };

  // graph draws the documents of a cluster, with a line for each pair: the kept ones are full.
  const graph = (list, pairs) => {
    const places = new Map(), width = 640, height = 400;
    for (const pair of pairs) for (const id of [pair.a, pair.b]) if (!places.has(id)) places.set(id, null);
    [...places.keys()].forEach((id, i, all) => places.set(id, { x: Math.cos(2 * Math.PI * i / all.length), y: Math.sin(2 * Math.PI * i / all.length) }));
    const nodes = [...places.values()];
    for (let round = 0; round < 120; round++) {
      const step = .1 * (1 - round / 120);
      for (const a of nodes) {
        a.dx = -a.x * .05;
        a.dy = -a.y * .05;
        for (const b of nodes) {
          const x = a.x - b.x, y = a.y - b.y, square = x * x + y * y + .01;
          a.dx += .05 * x / square;
          a.dy += .05 * y / square;
        }
      }
      for (const pair of pairs) {
        const a = places.get(pair.a), b = places.get(pair.b);
        a.dx += .3 * (b.x - a.x); a.dy += .3 * (b.y - a.y);
        b.dx += .3 * (a.x - b.x); b.dy += .3 * (a.y - b.y);
      }
      for (const a of nodes) {
        const far = Math.hypot(a.dx, a.dy) || 1;
        a.x += step * a.dx / Math.max(1, far);
        a.y += step * a.dy / Math.max(1, far);
      }
    }
    const most = Math.max(...nodes.map((a) => Math.max(Math.abs(a.x), Math.abs(a.y)))) || 1;
    const x = (a) => width / 2 + a.x / most * (width / 2 - 20), y = (a) => height / 2 + a.y / most * (height / 2 - 20);
    const kept = new Map(list.documents.flatMap((d) => [[d.id, d.kept], [d.ref, d.kept]]));
    return drawn("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The documents of the cluster and their pairs, which the table below lists" },
      ...pairs.map((pair) => {
        const a = places.get(pair.a), b = places.get(pair.b);
        return drawn("line", { x1: x(a), y1: y(a), x2: x(b), y2: y(b), "stroke-width": 1 + (pair.jaccard || 0), "stroke-opacity": .2 + .6 * (pair.jaccard || .5) });
      }),
      ...[...places].map(([id, a]) => drawn("circle", { cx: x(a), cy: y(a), r: 6, class: kept.get(id) === false ? "removed" : "" }, drawn("title", {}, shown(id)))));
  };

  // sides are two texts, with what both have marked, and buttons that step from one common passage to the next.
  const sides = (texts) => {
    const text = (label, side) => element("div", { class: "text", tabindex: 0, role: "region", "aria-label": "Text " + label },
      side.CutBefore ? element("span", { class: "cut" }, "… ") : null,
      (side.Pieces || []).map((piece) => piece.Passage
        ? element("mark", { "data-passage": piece.Passage, class: piece.Changed ? "changed" : undefined }, shown(piece.Text)) : shown(piece.Text)),
      side.CutAfter ? element("span", { class: "cut" }, " …") : null);
    const both = [text("A", texts.A), text("B", texts.B)], passages = texts.Passages || [];
    const where = element("output", {});
    let now = -1;
    const step = (by) => () => {
      now = (now + by + passages.length) % passages.length;
      where.textContent = `passage ${now + 1} of ${passages.length}: ${counted(passages[now].Words, "word")}`;
      for (const one of both) {
        one.querySelectorAll("mark").forEach((mark) => mark.classList.toggle("now", mark.dataset.passage === String(now + 1)));
        const mark = one.querySelector("mark.now");
        if (mark) one.scrollTop = mark.offsetTop - one.clientHeight / 4;
      }
    };
    return [passages.length ? element("p", { class: "pages" }, element("button", { type: "button", onclick: step(-1) }, "previous passage"),
      element("button", { type: "button", onclick: step(1), id: "next" }, "next passage"), where) : null,
    element("div", { class: "sides" }, both)];
  };

  const problem = (err) => element("p", { class: "problem" }, shown(err.message));

  const show = async () => {
    asked?.abort();
    const mine = asked = new AbortController();
    const p = place(), of = views[p.get("view")] ? p.get("view") : run.has.includes("clusters") ? "clusters" : "pairs";
    document.querySelectorAll("nav a").forEach((a) => a.dataset.view === of ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current"));
    view.setAttribute("aria-busy", "true");
    let parts;
    try {
      parts = await views[of](p);
    } catch (err) {
      if (err.name === "AbortError") return;
      parts = ["This cannot be shown", problem(err)];
    }
    if (mine !== asked) return;
    view.replaceChildren(element("h2", {}, parts[0]), ...parts.slice(1).flat(Infinity).filter(Boolean));
    view.removeAttribute("aria-busy");
    scrollTo(0, 0);
  };

  (async () => {
    asked = new AbortController();
    try {
      run = await ask("run");
    } catch (err) {
      view.replaceChildren(problem(err));
      return;
    }
    document.title = "Near-duplicates in " + shown(run.folder);
    document.getElementById("folder").textContent = shown(run.folder);
    document.getElementById("lead").textContent = `${counted(run.counts.documents, "document")}, ${counted(run.counts.pairs, "pair")}, ` +
      `${counted(run.counts.clusters || 0, "cluster")}, ${count(run.counts.removed)} removed`;
    const has = { clusters: run.has.includes("clusters"), pairs: run.has.includes("pairs") };
    const all = [["clusters", "Clusters", has.clusters], ["documents", "Documents", has.clusters], ["pairs", "Pairs", has.pairs],
      ["sources", "Sources", run.sources?.length > 0], ["threshold", "Threshold", has.clusters && has.pairs && !isBits()]];
    document.getElementById("views").append(...all.filter(([, , is]) => is).map(([of, text]) =>
      element("li", {}, element("a", { href: to(of), "data-view": of }, text))));
    document.getElementById("find").hidden = !has.clusters;
    document.getElementById("find").addEventListener("submit", (event) => {
      event.preventDefault();
      location.hash = to("documents", { q: document.getElementById("words").value });
    });
    addEventListener("hashchange", show);
    show();
  })();
})();
