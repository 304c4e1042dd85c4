"use strict";
// How the page speaks to its server: questions, orders, and the stream of what changes, which it takes up again when
// the server comes back.

class Client {
  // heard is called when something has changed, fresh when the server is there (again), gone when it is not. Without
  // them there are only questions.
  constructor(ears) {
    Object.assign(this, ears);
    this.pause = 500;
    if (ears) this.listen();
  }

  // ask returns an answer; null for what this server does not have. The error is what to tell the reader.
  async ask(path, method = "GET", body) {
    const answer = await fetch(path, { method, cache: "no-store", ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }) });
    if (answer.status === 404 && method === "GET") return null;
    if (answer.status === 401) throw new Error("The server wants its token. Open the address with the token, /login?token=TOKEN, again.");
    const kind = answer.headers.get("Content-Type") || "";
    const said = kind.includes("json") ? await answer.json() : await answer.text();
    if (answer.ok) return said;
    const mistakes = (said.errors || []).map((m) => `${m.field}: ${m.detail}`);
    throw new Error(mistakes.length ? mistakes.join("; ") : said.detail || said.title || String(said));
  }

  listen() {
    const stream = (this.stream = new EventSource("v1/events"));
    const alive = () => { this.pause = 500; };
    stream.addEventListener("hello", () => { alive(); this.fresh(); });
    for (const kind of ["job", "attempt", "slots", "server"]) stream.addEventListener(kind, (e) => { alive(); this.heard(kind, JSON.parse(e.data)); });
    stream.onerror = () => {
      stream.close(); // its own ideas of when to come back differ from browser to browser
      this.gone(this.pause);
      setTimeout(() => this.listen(), this.pause);
      this.pause = Math.min(5000, this.pause * 1.6);
    };
  }
}
