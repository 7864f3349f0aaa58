// The order in which pages are read.

const page = (text, path) => ({ text, link: `/docs/${path}` });

export const sidebar = [
  {
    text: "Begin",
    items: [
      page("Tutorial", "tutorial"),
      page("Coming from another engine", "migrating"),
      page("Deciding", "deciding"),
      page("Glossary", "GLOSSARY"),
    ],
  },
  {
    text: "Examples",
    items: [
      page("All examples", "examples/"),
      page("Documents", "examples/documents/"),
      page("Multi-tenant", "examples/multi-tenant/"),
      page("Field masks", "examples/field-masks/"),
      page("MCP tools", "examples/mcp-tools/"),
      page("JWT", "examples/jwt/"),
      page("SPIFFE", "examples/spiffe/"),
      page("Schemas", "examples/schemas/"),
      page("Scopes", "examples/scopes/"),
    ],
  },
  {
    text: "How to",
    items: [
      page("Rotate a signing key", "howto/rotate-keys"),
      page("Test in continuous integration", "howto/test-in-ci"),
      page("Change a rule safely", "howto/change-a-rule"),
      page("Serve many tenants", "howto/tenants"),
      page("All of them", "howto/"),
    ],
  },
  {
    text: "Policies",
    items: [
      page("The policy language", "policies"),
      page("Functions in conditions", "functions"),
      page("Policy tests", "testing"),
      page("Coverage", "coverage"),
      page("Errors of the compiler", "errors"),
      page("Findings of the linter", "lints"),
      page("Formatting", "formatting"),
      page("In a workflow", "ci"),
      page("Changes and similar rules", "ANALYSIS"),
      page("Schemas for editors", "schemas/"),
    ],
  },
  {
    text: "Bundles",
    items: [page("Signing", "signing"), page("The format", "BUNDLE"), page("Watcher", "watcher")],
  },
  {
    text: "JavaScript",
    items: [
      page("Node", "runtimes/node"),
      page("Browsers", "runtimes/browser"),
      page("Deno", "runtimes/deno"),
      page("Bun", "runtimes/bun"),
      page("Workers", "runtimes/workers"),
      page("Frameworks", "adapters"),
      page("Pool of workers", "pool"),
      page("Compiler", "runtimes/compiler"),
      page("Analysis", "runtimes/analysis"),
      page("Errors and reasons", "package-errors"),
    ],
  },
  {
    text: "Servers and the edge",
    items: [
      page("wardgate serve", "server"),
      page("Edge worker", "runtimes/edge-worker"),
      page("MQTT on Workers", "runtimes/edge-hub"),
      page("The decision log", "DECISION-LOG"),
      page("Rate limits", "ratelimit"),
      page("SPOCP", "spocp"),
      page("MQTT", "MQTT"),
      page("From ACLs of MQTT brokers", "mqtt-translations"),
    ],
  },
  {
    text: "Other hosts",
    items: [
      page("Rust with wasmtime", "runtimes/wasmtime"),
      page("Python", "runtimes/python"),
      page("Go", "runtimes/go"),
      page("Any host of WebAssembly", "ABI"),
    ],
  },
  {
    text: "The project",
    items: [
      page("Threats", "THREATS"),
      page("Conformance", "CONFORMANCE"),
      page("Architecture", "ARCHITECTURE"),
      page("Ways to an answer", "PATHS"),
      page("Reasons", "DESIGN"),
      page("MQTT, statement by statement", "mqtt-statements"),
      page("Suites of MQTT", "mqtt-suites"),
      page("Contributing", "CONTRIBUTING"),
      page("Releasing", "releasing"),
      page("Changes", "CHANGELOG"),
    ],
  },
];
