// The properties of MQTT 5.0: their numbers, names and forms (section 2.2.2.2).
//
// Which packet may have which property, and with which values, the module knows.

import { describe } from "../base/describe.ts";
import type { Properties } from "./mqtt-packets.ts";
import type { PacketReader } from "./mqtt-reader.ts";
import type { PacketWriter } from "./mqtt-writer.ts";

/** The properties of a packet that has none. */
export const NO_PROPERTIES: Properties = Object.freeze({});

/** Reads properties that the module has checked. */
export function readProperties(reader: PacketReader): Properties {
  const length = reader.number();
  if (length === 0) return NO_PROPERTIES;
  const end = reader.at + length;
  const properties: { [name: string]: unknown } = {};
  while (reader.at < end) {
    const [name, form] = BY_NUMBER[reader.byte()]!;
    if (form === "numbers" || form === "pairs") {
      const list = (properties[name] ??= []) as unknown[];
      list.push(form === "numbers" ? reader.number() : [reader.text(), reader.text()]);
    } else {
      properties[name] = readValue(reader, form);
    }
  }
  return properties;
}

function readValue(reader: PacketReader, form: Exclude<Form, "numbers" | "pairs">): unknown {
  switch (form) {
    case "flag":
      return reader.byte() === 1;
    case "byte":
      return reader.byte();
    case "two":
      return reader.two();
    case "four":
      return reader.four();
    case "text":
      return reader.text();
    case "binary":
      return reader.binary();
  }
}

/** Writes properties with their length before them. */
export function writeProperties(writer: PacketWriter, properties: Properties | undefined): void {
  if (properties === undefined || properties === NO_PROPERTIES) return writer.byte(0, "properties");
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) {
    throw new TypeError(`\`properties\` must be an object, found ${describe(properties)}`);
  }
  const start = writer.at;
  for (const [name, value] of Object.entries(properties)) {
    const known = BY_NAME.get(name);
    if (known === undefined) throw new TypeError(`unknown property \`${name}\``);
    if (value !== undefined) writeProperty(writer, name, known, value);
  }
  writer.lengthAt(start);
}

function writeProperty(writer: PacketWriter, name: string, [number, form]: readonly [number, Form], value: unknown): void {
  if (form === "numbers" || form === "pairs") {
    for (const item of writer.list(value, name)) {
      writer.byte(number, name);
      if (form === "numbers") writer.number(item, name);
      else writePair(writer, writer.list(item, name), name);
    }
    return;
  }
  writer.byte(number, name);
  switch (form) {
    case "flag":
      return writer.byte(writer.flag(value, name) ? 1 : 0, name);
    case "byte":
      return writer.byte(value, name);
    case "two":
      return writer.two(value, name);
    case "four":
      return writer.four(value, name);
    case "text":
      return writer.text(value, name);
    case "binary":
      return writer.binary(value, name);
  }
}

function writePair(writer: PacketWriter, pair: readonly unknown[], name: string): void {
  if (pair.length !== 2) throw new TypeError(`an element of \`${name}\` must be a name and a value`);
  writer.text(pair[0], name);
  writer.text(pair[1], name);
}

type Form = "flag" | "byte" | "two" | "four" | "text" | "binary" | "numbers" | "pairs";

const TABLE: readonly (readonly [number: number, name: keyof Properties, form: Form])[] = [
  [0x01, "payloadFormatIndicator", "flag"],
  [0x02, "messageExpiryInterval", "four"],
  [0x03, "contentType", "text"],
  [0x08, "responseTopic", "text"],
  [0x09, "correlationData", "binary"],
  [0x0b, "subscriptionIdentifiers", "numbers"],
  [0x11, "sessionExpiryInterval", "four"],
  [0x12, "assignedClientIdentifier", "text"],
  [0x13, "serverKeepAlive", "two"],
  [0x15, "authenticationMethod", "text"],
  [0x16, "authenticationData", "binary"],
  [0x17, "requestProblemInformation", "flag"],
  [0x18, "willDelayInterval", "four"],
  [0x19, "requestResponseInformation", "flag"],
  [0x1a, "responseInformation", "text"],
  [0x1c, "serverReference", "text"],
  [0x1f, "reasonString", "text"],
  [0x21, "receiveMaximum", "two"],
  [0x22, "topicAliasMaximum", "two"],
  [0x23, "topicAlias", "two"],
  [0x24, "maximumQos", "byte"],
  [0x25, "retainAvailable", "flag"],
  [0x26, "userProperties", "pairs"],
  [0x27, "maximumPacketSize", "four"],
  [0x28, "wildcardSubscriptionAvailable", "flag"],
  [0x29, "subscriptionIdentifierAvailable", "flag"],
  [0x2a, "sharedSubscriptionAvailable", "flag"],
];

const BY_NUMBER: readonly (readonly [name: string, form: Form] | undefined)[] = byNumber();
const BY_NAME: ReadonlyMap<string, readonly [number: number, form: Form]> = byName();

function byNumber(): (readonly [string, Form] | undefined)[] {
  const rows: (readonly [string, Form] | undefined)[] = [];
  for (const [number, name, form] of TABLE) rows[number] = [name, form];
  return rows;
}

function byName(): Map<string, readonly [number, Form]> {
  return new Map(TABLE.map(([number, name, form]) => [name, [number, form]]));
}
