/* Opens the section that an address names. */
function openTarget() {
  const folded = document.getElementById(location.hash.slice(1))?.querySelector("details");
  if (folded) {
    folded.open = true;
    folded.scrollIntoView();
  }
}

addEventListener("hashchange", openTarget);
openTarget();
