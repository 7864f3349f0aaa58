// A PDP that keeps itself up to date.

import { createWatcher, type PublicJwk, type Watcher } from "wardgate";

export function watch(url: string, trust: PublicJwk, log: (line: string) => void): Watcher {
  return createWatcher({
    url,
    trust,
    interval: 30_000,
    on: {
      activated: ({ revision }) => log(`revision ${revision} is in use`),
      refused: ({ code, message }) => log(`refused (${code}): ${message}`),
      failed: (error) => log(`no answer: ${String(error)}`),
    },
  });
}

export async function mayView(watcher: Watcher, owner: string): Promise<boolean> {
  // Waits for the first bundle only. The PDP always decides by the newest one.
  const pdp = await watcher.ready;
  const principal = { id: owner, roles: ["user"] };
  return pdp.isAllowed({ principal, action: "view", resource: { kind: "album", id: "a1" } });
}
