import { readFile } from "node:fs/promises";
import { open } from "wardgate";

const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });
const tools = {
  search_orders: ({ text }) => `orders with ${text}`,
  refund_order: ({ order, amount }) => `refunded ${amount} for ${order}`,
  drop_tables: () => "all gone",
};

/** Answers a message of MCP (JSON-RPC 2.0) for a principal that the transport has authenticated. */
function answer(principal, { id, method, params = {} }) {
  switch (method) {
    case "tools/list": {
      const named = Object.keys(tools).map((name) => ({ kind: "tool", id: name }));
      const visible = pdp.filter({ principal, action: "list", resources: named });
      return { jsonrpc: "2.0", id, result: { tools: visible.map((tool) => ({ name: tool.id })) } };
    }
    case "tools/call": {
      const { name, arguments: given = {} } = params;
      if (typeof name !== "string") return failed(id, -32602, "a call names a tool");
      const denial = denialOf(principal, name, given);
      if (denial !== undefined) return failed(id, -32001, `denied: ${denial}`);
      if (!Object.hasOwn(tools, name)) return failed(id, -32602, "no such tool");
      return { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: tools[name](given) }] } };
    }
    default:
      return failed(id, -32601, "no such method");
  }
}

/** Returns why a call is denied, in one line; `undefined` if it is allowed. */
function denialOf(principal, name, given) {
  const resource = { kind: "tool", id: name, attr: { arguments: given } };
  const { actions, outputs = [] } = pdp.check({ principal, resource, actions: ["call"] });
  if (actions.call.effect === "allow") return undefined;
  return outputs.map(({ val }) => val).find(Boolean) ?? "no rule allows this call";
}

function failed(id, code, message) {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

const helper = { id: "helper", roles: ["agent"] };
const refunds = { id: "refunds", roles: ["agent", "refund_agent"], attr: { refundLimit: 100 } };
const list = (principal) => answer(principal, { id: 1, method: "tools/list" }).result.tools.map(({ name }) => name).join(" ");
console.log(list(helper)); // search_orders
console.log(list(refunds)); // search_orders refund_order

const call = (principal, name, given) => {
  const { result, error } = answer(principal, { id: 2, method: "tools/call", params: { name, arguments: given } });
  return error?.message ?? result.content[0].text;
};
console.log(call(refunds, "refund_order", { order: "o1", amount: 80 })); // refunded 80 for o1
console.log(call(refunds, "refund_order", { order: "o1", amount: 5000 })); // denied: amount must be at most 100 but is 5000
console.log(call(refunds, "refund_order", { order: "o1", amount: "80" })); // denied: no rule allows this call
console.log(call(helper, "drop_tables", {})); // denied: no rule allows this call
