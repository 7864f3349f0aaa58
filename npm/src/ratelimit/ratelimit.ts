// The entry `wardgate/ratelimit`: rate limits in the memory of a process or on a server that many share.
// It loads no module.

export { durable } from "./durable.ts";
export { leased } from "./leased.ts";
export { LimitObject } from "./limit-object.ts";
export { limiter } from "./limiter.ts";
export { memory } from "./memory.ts";
export { redis } from "./redis.ts";
export { Away } from "./store.ts";
export { Rule } from "./rule.ts";
export { State } from "./state.ts";
export { fields, problem, response } from "./fields.ts";
export type { Charge, Demand, Failure } from "./demand.ts";
export type { Durable, DurableOptions, LimitNamespace } from "./durable.ts";
export type { FieldOptions, Problem } from "./fields.ts";
export { digestOf } from "./key.ts";
export type { Key } from "./key.ts";
export type { Leased, LeaseOptions } from "./leased.ts";
export type { ObjectState } from "./limit-object.ts";
export type { Checked, Decider, Guard, LimiterOptions, PolicyLimiterOptions, Standing } from "./limiter.ts";
export type { Memory, MemoryCounts, MemoryOptions } from "./memory.ts";
export type { Guarded, GuardedRequest, MetLimit, PolicyGuard, SharingGuard } from "./policy-guard.ts";
export type { Redis, RedisOptions, RunScript } from "./redis.ts";
export type { RemoteCounts } from "./remote.ts";
export type { Terms } from "./rule.ts";
export type { Action, Outcome } from "./state.ts";
export type { AwayReason, Store } from "./store.ts";
export type { WhenFull } from "./table.ts";
