// Packets to bytes. A packet is written into the buffer of the module, which checks it as if it had
// come from the network: what it would refuse is not encoded.

import { describe } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import type { MqttInstance } from "./mqtt-abi.ts";
import type { PacketToEncode, Properties, Qos, SubscriptionToEncode, Version, WillToEncode } from "./mqtt-packets.ts";
import { writeProperties } from "./mqtt-properties.ts";
import { PacketWriter, whole } from "./mqtt-writer.ts";

/** Encodes a packet, and calls `use` with the buffer and the place of the packet in it. */
export function encode<R>(
  instance: MqttInstance,
  packet: PacketToEncode,
  version: Version,
  use: (bytes: Uint8Array, start: number, end: number) => R,
): R {
  const writer = new PacketWriter(instance, instance.buffer(0));
  instance.isWriting = true;
  let first;
  try {
    first = write(writer, packet, version);
  } finally {
    instance.isWriting = false;
  }
  const start = writer.header(first);
  instance.check(version, start, writer.at);
  return use(instance.written, start, writer.at);
}

/** Writes what follows the fixed header, and returns the first byte of the packet. */
function write(writer: PacketWriter, packet: PacketToEncode, version: Version): number {
  switch (packet.kind) {
    case "publish":
      return writePublish(writer, packet, version);
    case "connect":
      return writeConnect(writer, packet);
    case "connack":
      writer.byte(flag(writer, packet.sessionPresent, "sessionPresent", false) ? 1 : 0, "sessionPresent");
      writer.byte(packet.reason ?? 0, "reason");
      properties(writer, packet.properties, version);
      return 0x20;
    case "puback":
      return writeAck(writer, packet, version, 0x40);
    case "pubrec":
      return writeAck(writer, packet, version, 0x50);
    case "pubrel":
      return writeAck(writer, packet, version, 0x62);
    case "pubcomp":
      return writeAck(writer, packet, version, 0x70);
    case "subscribe":
      begin(writer, packet, version);
      for (const one of writer.list(packet.subscriptions, "subscriptions")) writeSubscription(writer, one as SubscriptionToEncode, version);
      return 0x82;
    case "suback":
      return writeSuback(writer, packet, version, 0x90);
    case "unsubscribe":
      begin(writer, packet, version);
      for (const filter of writer.list(packet.filters, "filters")) writer.text(filter, "filters");
      return 0xa2;
    case "unsuback":
      return writeSuback(writer, version === 5 ? packet : { ...packet, reasons: [] }, version, 0xb0);
    case "pingreq":
      return 0xc0;
    case "pingresp":
      return 0xd0;
    case "disconnect":
      return writeEnd(writer, packet, version, 0xe0);
    case "auth":
      if (version === 5) return writeEnd(writer, packet, version, 0xf0);
      throw new WardgateError("protocol-error", "MQTT 3.1.1 has no AUTH");
  }
  throw new TypeError(`unknown \`kind\` of a packet, found ${describe((packet as { kind?: unknown }).kind)}`);
}

function writePublish(writer: PacketWriter, packet: PacketToEncode & { kind: "publish" }, version: Version): number {
  const { topic, payload, id } = packet;
  const qos = readQos(packet.qos);
  writer.text(topic ?? "", "topic");
  if (qos !== 0) writer.two(id, "id");
  else if (id !== undefined) throw new RangeError("a PUBLISH of QoS 0 has no `id`");
  properties(writer, packet.properties, version);
  if (payload !== undefined) writer.bytes(payload, "payload");
  const retain = flag(writer, packet.retain, "retain", false) ? 1 : 0;
  const dup = flag(writer, packet.dup, "dup", false) ? 8 : 0;
  return 0x30 | retain | dup | (qos << 1);
}

function writeConnect(writer: PacketWriter, packet: PacketToEncode & { kind: "connect" }): number {
  const { version, will, userName, password } = packet;
  if (version !== 4 && version !== 5) throw new RangeError("`version` of a CONNECT must be 4 or 5");
  writer.text("MQTT", "protocol");
  writer.byte(version, "version");
  const clean = flag(writer, packet.cleanStart, "cleanStart", true) ? 2 : 0;
  const names = (password === undefined ? 0 : 0x40) | (userName === undefined ? 0 : 0x80);
  const flags = will === undefined ? 0 : 4 | (readQos(will.qos) << 3) | (flag(writer, will.retain, "will.retain", false) ? 0x20 : 0);
  writer.byte(clean | names | flags, "flags");
  writer.two(packet.keepAlive ?? 0, "keepAlive");
  properties(writer, packet.properties, version);
  writer.text(packet.clientId, "clientId");
  if (will !== undefined) writeWill(writer, will, version);
  if (userName !== undefined) writer.text(userName, "userName");
  if (password !== undefined) writer.binary(password, "password");
  return 0x10;
}

function writeWill(writer: PacketWriter, will: WillToEncode, version: Version): void {
  properties(writer, will.properties, version);
  writer.text(will.topic, "will.topic");
  writer.binary(will.payload ?? "", "will.payload");
}

/** Writes an acknowledgement, which in 3.1.1 has no reason code. */
function writeAck(writer: PacketWriter, packet: PacketToEncode & { id: number }, version: Version, first: number): number {
  writer.two(packet.id, "id");
  return writeEnd(writer, packet as ReasonAndProperties, version, first);
}

/** Writes a reason code and properties, without those at the end that may be left out. */
function writeEnd(writer: PacketWriter, packet: ReasonAndProperties, version: Version, first: number): number {
  const { reason = 0, properties: own } = packet;
  const hasProperties = own !== undefined && Object.values(own).some((value) => value !== undefined);
  if (version === 5 && (hasProperties || reason !== 0)) {
    writer.byte(reason, "reason");
    if (hasProperties) writeProperties(writer, own);
  }
  return first;
}

function writeSubscription(writer: PacketWriter, one: SubscriptionToEncode, version: Version): void {
  writer.text(one.filter, "filter");
  const local = flag(writer, one.noLocal, "noLocal", false) ? 4 : 0;
  const asPublished = flag(writer, one.retainAsPublished, "retainAsPublished", false) ? 8 : 0;
  const options = local | asPublished | (whole(one.retainHandling ?? 0, "retainHandling", 2) << 4);
  writer.byte(readQos(one.qos) | (version === 5 ? options : 0), "options");
}

function writeSuback(writer: PacketWriter, packet: PacketToEncode & { kind: "suback" | "unsuback" }, version: Version, first: number): number {
  begin(writer, packet, version);
  for (const reason of writer.list(packet.reasons ?? [], "reasons")) writer.byte(reason, "reasons");
  return first;
}

function begin(writer: PacketWriter, packet: { readonly id: number; readonly properties?: Properties | undefined }, version: Version): void {
  writer.two(packet.id, "id");
  properties(writer, packet.properties, version);
}

function properties(writer: PacketWriter, own: Properties | undefined, version: Version): void {
  if (version === 5) writeProperties(writer, own);
}

function readQos(value: unknown): Qos {
  return whole(value ?? 0, "qos", 2) as Qos;
}

function flag(writer: PacketWriter, value: unknown, name: string, usual: boolean): boolean {
  return value === undefined ? usual : writer.flag(value, name);
}

interface ReasonAndProperties {
  readonly reason?: number | undefined;
  readonly properties?: Properties | undefined;
}
