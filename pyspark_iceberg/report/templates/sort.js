"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];
  const key = (row, i) => row.cells[i].dataset.value ?? row.cells[i].textContent.trim();
  headers.forEach((header, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const ascending = header.getAttribute("aria-sort") !== "ascending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const order = new Intl.Collator("en", { numeric: true }).compare;
      const rows = [...body.rows].sort((a, b) => order(key(a, i), key(b, i)));
      body.replaceChildren(...(ascending ? rows : rows.reverse()));
    });
  });
}
