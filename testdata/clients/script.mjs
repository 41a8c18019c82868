// A scenario: what the model says, turn for turn, as data.
//
//   { "prompt": "what the agent is told",
//     "turns": [ TURN, … ],                    of the agent
//     "threads": { "NAME": [ TURN, … ] } }     of a sub-agent that a task started
//
//   TURN { "text": "…", "calls": [ CALL, … ], "delay_ms": 0, "status": 200, "only": ["openai"] }
//
//   CALL {"do": "shell", "command": "…"}             {"do": "read", "path": "…"}
//        {"do": "write", "path": "…", "content": ""} {"do": "search", "pattern": "…"}
//        {"do": "task", "thread": "NAME"}            {"do": "wait"}
//        {"do": "mcp", "server": "…", "tool": "…", "args": {}}
//
// each with a "name" of its own by which a test finds it, and "only" like a turn.
// After its last turn a conversation hears "Done.", which ends it. The server
// keeps no state: which turn it is is read from the history that the agent sends.

const providers = ['anthropic', 'openai', 'gemini'];
const kinds = ['shell', 'read', 'write', 'search', 'task', 'wait', 'mcp'];

export class Script {
  constructor(scenario, vars) {
    this.scenario = fill(scenario, vars);
    this.vars = vars;
    for (const turn of [...this.scenario.turns, ...Object.values(this.scenario.threads ?? {}).flat()]) check(turn);
  }

  // turn is what the model says next in a thread ('' is the agent's own).
  turn(provider, thread, index) {
    const turns = (thread ? this.scenario.threads?.[thread] : this.scenario.turns) ?? [];
    return turns.filter((t) => meant(t, provider))[index] ?? { text: 'Done.' };
  }

  // calls is what a turn asks for, paths made absolute.
  calls(provider, turn) {
    return (turn.calls ?? []).filter((c) => meant(c, provider)).map((c) => {
      const call = { ...c };
      if (c.path !== undefined && !c.path.startsWith('/')) call.path = `${this.vars.PROJECT}/${c.path}`;
      if (c.do === 'task') call.prompt = `[[thread:${c.thread}]] Do your part.`;
      return call;
    });
  }
}

// threadIn is the thread that a task's prompt names; '' for the agent's own.
export const threadIn = (text) => /\[\[thread:([\w-]+)\]\]/.exec(text ?? '')?.[1] ?? '';

const meant = (x, provider) => !x.only || x.only.includes(provider);

function check(turn) {
  for (const x of [turn, ...(turn.calls ?? [])]) {
    for (const p of x.only ?? []) if (!providers.includes(p)) throw new Error(`no provider ${p}`);
  }
  for (const c of turn.calls ?? []) {
    if (!kinds.includes(c.do)) throw new Error(`a call cannot ${c.do}`);
    if (!c.name) throw new Error(`a call has no name: ${JSON.stringify(c)}`);
  }
}

function fill(x, vars) {
  if (typeof x === 'string') {
    return x.replace(/\$\{(\w+)\}/g, (_, name) => {
      if (vars[name] === undefined) throw new Error(`--var ${name} is missing`);
      return vars[name];
    });
  }
  if (Array.isArray(x)) return x.map((y) => fill(y, vars));
  if (x && typeof x === 'object') return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, fill(v, vars)]));
  return x;
}

// least is the smallest value that satisfies a JSON schema, for the questions
// that agents ask beside the task and for a sub-agent's last word.
export function least(schema) {
  if (!schema || typeof schema !== 'object') return 'ok';
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return least(schema.anyOf[0]);
  switch (String(schema.type).toLowerCase()) {
    case 'object': return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([k, v]) => [k, least(v)]));
    case 'array': return [];
    case 'number': case 'integer': return schema.minimum ?? 1;
    case 'boolean': return false;
    default: return 'ok';
  }
}
