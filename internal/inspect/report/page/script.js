"use strict";
(() => {
  document.documentElement.classList.add("js");
  const show = (element) => { if (element) element.hidden = false; };

  // number returns what a cell is compared by: its figure, or nothing for a text.
  const number = (cell) => cell && cell.dataset.v !== undefined ? Number(cell.dataset.v) : NaN;

  // A search has words, which a row must contain, and comparisons such as >90, which look at the column that the table is
  // sorted by, or with a name in front, as in removed>90, at the column whose heading begins so.
  const comparison = /^([^<>=]*)(>=|<=|>|<|=)(-?[0-9.]+)%?$/;
  const compare = { ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "=": (a, b) => a === b };

  const prepare = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const isNumeric = heads.map((_, i) => rows.some((row) => !Number.isNaN(number(row.cells[i]))));
    // Similarities stand as shares of 1. So >90 means >0.9 there.
    const isShare = heads.map((_, i) => {
      const numbers = rows.map((row) => number(row.cells[i])).filter((x) => !Number.isNaN(x));
      return numbers.every((x) => x <= 1) && numbers.some((x) => !Number.isInteger(x));
    });
    // The column that comparisons look at: the sorted one, or the first with figures.
    const column = (name) => {
      if (name) return heads.findIndex((head, i) => isNumeric[i] && head.textContent.toLowerCase().startsWith(name));
      const sorted = heads.findIndex((head, i) => isNumeric[i] && head.hasAttribute("aria-sort"));
      return sorted >= 0 ? sorted : isNumeric.indexOf(true);
    };

    heads.forEach((head, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : isNumeric[i];
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const sign = descending ? -1 : 1;
        rows.sort((a, b) => {
          if (!isNumeric[i]) return sign * a.cells[i].textContent.localeCompare(b.cells[i].textContent);
          const x = number(a.cells[i]), y = number(b.cells[i]);
          if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y); // those without come last
          return sign * (x - y);
        });
        body.append(...rows);
        filter();
      });
    });

    const search = table.closest(".table")?.querySelector(".search");
    const input = search?.querySelector("input");
    const filter = () => {
      if (!input) return;
      const terms = input.value.toLowerCase().replace(/([<>=]+)\s+/g, "$1").split(/\s+/).filter(Boolean).map((word) => {
        const parts = comparison.exec(word);
        const at = parts ? column(parts[1]) : -1;
        if (!parts || at < 0) return (row) => row.textContent.toLowerCase().includes(word);
        const limit = Number(parts[3]) / (isShare[at] && Number(parts[3]) > 1 ? 100 : 1);
        return (row) => compare[parts[2]](number(row.cells[at]), limit);
      });
      let left = 0;
      for (const row of rows) {
        row.hidden = !terms.every((term) => term(row));
        left += row.hidden ? 0 : 1;
      }
      search.querySelector("output").textContent = terms.length ? `${left} of ${rows.length}` : "";
    };
    if (input) {
      show(search);
      input.addEventListener("input", filter);
    }
  };
  document.querySelectorAll("table.sortable").forEach(prepare);

  // The scale of the histogram.
  document.querySelectorAll(".switch").forEach((group) => {
    show(group);
    const plots = group.parentElement.querySelectorAll(".plot");
    const choose = (scale) => {
      plots.forEach((plot) => plot.classList.toggle("off", plot.dataset.scale !== scale));
      group.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.scale === scale)));
    };
    group.addEventListener("click", (event) => { if (event.target.dataset.scale) choose(event.target.dataset.scale); });
    choose("linear");
  });

  // Chips scroll both texts to a passage. The page itself stays where it is.
  document.querySelectorAll(".compare").forEach((compared) => {
    const chips = compared.querySelector(".chips");
    chips.addEventListener("click", (event) => {
      const passage = event.target.dataset.passage;
      if (!passage) return;
      chips.querySelectorAll("button").forEach((chip) => chip.setAttribute("aria-pressed", String(chip === event.target)));
      compared.querySelectorAll("mark").forEach((mark) => mark.classList.toggle("now", mark.dataset.passage === passage));
      compared.querySelectorAll(".text").forEach((text) => {
        const mark = text.querySelector("mark.now");
        if (mark) text.scrollTop = mark.offsetTop - text.clientHeight / 4;
      });
    });
  });

  // A link to something folded unfolds it.
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  const copy = document.querySelector(".copy");
  if (copy && navigator.clipboard) {
    show(copy);
    const button = copy.querySelector("button");
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(document.querySelector(".command").textContent).then(() => { button.textContent = "Copied"; }, () => {});
    });
  }
})();
