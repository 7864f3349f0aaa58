// Metrics of this instance of the worker: as JSON at `/metrics`, and one data point for each
// request if Workers Analytics Engine is bound. The labels are names of endpoints and codes, so
// that their number stays small.

/** The measurements of one request. */
export interface RequestMetrics {
  readonly endpoint: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly allowed: number;
  readonly denied: number;
}

export class Metrics {
  readonly #dataset: AnalyticsEngineDataset | undefined;
  readonly #started = Date.now();
  readonly #requests = new Map<string, number>();
  #allowed = 0;
  #denied = 0;

  constructor(dataset: AnalyticsEngineDataset | undefined) {
    this.#dataset = dataset;
  }

  record({ endpoint, status, milliseconds, allowed, denied }: RequestMetrics): void {
    const key = `${endpoint} ${status}`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    this.#allowed += allowed;
    this.#denied += denied;
    // It returns at once; the runtime sends it later.
    this.#dataset?.writeDataPoint({
      indexes: [endpoint],
      blobs: [endpoint, String(status)],
      doubles: [1, milliseconds, allowed, denied],
    });
  }

  read(): object {
    return {
      seconds: Math.round((Date.now() - this.#started) / 1000),
      requests: Object.fromEntries([...this.#requests].sort(([a], [b]) => (a < b ? -1 : 1))),
      decisions: { allowed: this.#allowed, denied: this.#denied },
    };
  }
}
