"use strict";

// A button beside every block of code that copies it.
addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const code = block.querySelector("pre");
    // Output is no code: there is nothing to run.
    if (code === null || block.parentElement.matches(".highlight-text, .highlight-none")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent.trimEnd() + "\n");
        button.textContent = "Copied";
      } catch {
        // Without permission the code is selected: Ctrl-C copies it.
        getSelection().selectAllChildren(code);
        button.textContent = "Press Ctrl-C";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
  }
});
