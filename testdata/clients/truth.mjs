// What was asked of the model and what came back, as the server saw it: what a
// test holds the agent's own story against. The file is replaced after every
// request, so that it is whole whenever it is read.
//
//   { "answers": [ {n, provider, thread, turn, aside, status, delivered, tokens} ],
//     "calls":   [ {id, name, do, tool, thread, turn, n, result: {text, error}} ],
//     "offered": [ tools of the agent's first request ],
//     "other":   { "GET /path": 2 },  "faults": [ "…" ],  "ended": "SIGTERM" }
//
// A call without result is one that the agent sent no result for. An aside is a
// request beside the task (a title, a router's question); its turn is absent.

import fs from 'node:fs';

const maxText = 4000;

export class Truth {
  constructor(file) {
    this.file = file;
    this.all = { answers: [], calls: [], offered: null, other: {}, faults: [], ended: null };
    this.save();
  }

  // asked takes the results out of a request's history.
  asked(provider, asked) {
    if (!asked.aside) this.all.offered ??= asked.tools;
    for (const r of asked.results) {
      const call = this.all.calls.find((c) => c.id === r.id);
      if (!call) this.fault(`${provider}: a result for ${r.id}, which nobody called`);
      else call.result ??= { text: String(r.text).slice(0, maxText), error: !!r.error };
    }
    this.save();
  }

  answer(provider, asked, turn, status, calls) {
    const n = this.all.answers.length + 1;
    const said = { n, provider, thread: asked.thread, aside: !!asked.aside, status, delivered: false };
    if (!asked.aside) said.turn = asked.index;
    // Each answer costs another number, so that a sum cannot be right by chance.
    said.tokens = status === 200 ? { input: 1000 + n, cached: 100 + n, output: 10 + n } : { input: 0, cached: 0, output: 0 };
    this.all.answers.push(said);
    for (const c of calls) {
      // A request that is sent again gets the same answer, with the same ids.
      if (this.all.calls.some((d) => d.id === c.id)) continue;
      this.all.calls.push({ id: c.id, name: c.from.name, do: c.from.do, tool: c.tool, thread: asked.thread, turn: asked.index, n });
    }
    this.save();
    return said;
  }

  delivered(said) {
    said.delivered = true;
    this.save();
  }

  other(method, path) {
    const key = `${method} ${path}`;
    this.all.other[key] = (this.all.other[key] ?? 0) + 1;
    this.save();
  }

  fault(what) {
    this.all.faults.push(what);
    this.save();
  }

  end(why) {
    this.all.ended = why;
    this.save();
  }

  save() {
    fs.writeFileSync(`${this.file}.new`, JSON.stringify(this.all, null, 1));
    fs.renameSync(`${this.file}.new`, this.file);
  }
}
