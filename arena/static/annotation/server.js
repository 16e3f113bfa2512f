/*
 * Asking the server in the background. What comes back is {kind, data}; kind is
 *   "ok"          data is the reply
 *   "refused"     the server understood and did not take it: data.detail says why
 *   "signed-out"  nobody, or somebody else, is signed in
 *   "away"        no connection, a timeout, or a server in trouble: to be tried again
 */
const PATIENCE = 20_000; // milliseconds for one request
export const place = document.getElementById("rating").dataset;
let csrf = place.csrf;

async function send(url, fields) {
  const options = {
    headers: { Accept: "application/json" },
    credentials: "same-origin",
    redirect: "manual",
    signal: AbortSignal.timeout(PATIENCE),
  };
  if (fields) {
    const body = new URLSearchParams(fields);
    body.set("rater", place.rater);
    Object.assign(options, { method: "POST", body });
    options.headers["X-CSRFToken"] = csrf;
  }
  const response = await fetch(url, options);
  const isJson = (response.headers.get("Content-Type") || "").startsWith("application/json");
  return { status: response.status, type: response.type, data: isJson ? await response.json() : null };
}

function read({ status, type, data }) {
  if (status === 401) {
    return { kind: "signed-out", data };
  }
  if (status === 204 || (status === 200 && data)) {
    return { kind: "ok", data };
  }
  if (data?.html) {
    return { kind: "ok", data }; // a page that says why there is no pair
  }
  if (type === "opaqueredirect" || status === 404) {
    return { kind: "refused", data: { detail: "You no longer rate in this study." } };
  }
  if (status >= 400 && status < 500 && ![403, 408, 429].includes(status)) {
    return { kind: "refused", data: { detail: "The server did not accept it.", ...data } };
  }
  return { kind: "away", data: null };
}

/* A token that fits the session, after somebody signed in anew in another tab. */
async function renew() {
  const found = await send(place.token);
  if (found.status === 401 || (found.data && found.data.rater !== place.rater)) {
    return { kind: "signed-out", data: null };
  }
  csrf = found.data?.token || csrf;
  return null;
}

export async function ask(url, fields = null) {
  try {
    let found = await send(url, fields);
    if (found.status === 403) {
      const lost = await renew();
      if (lost) {
        return lost;
      }
      found = await send(url, fields);
    }
    return read(found);
  } catch {
    return { kind: "away", data: null };
  }
}
