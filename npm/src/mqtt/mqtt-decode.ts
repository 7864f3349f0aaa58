// Bytes to packets. The module checks a packet in one call; then its fields are read here.

import type { LimitNumbers, MqttInstance } from "./mqtt-abi.ts";
import type { Ack, Connect, End, Packet, Properties, Publish, Qos, Suback, Subscription, Version, Will } from "./mqtt-packets.ts";
import { NO_PROPERTIES, readProperties } from "./mqtt-properties.ts";
import { PacketReader } from "./mqtt-reader.ts";
import type { Decoded } from "./mqtt-types.ts";

/** Decodes the packet at the front of some bytes. */
export function decode(instance: MqttInstance, bytes: Uint8Array, version: Version, limits: LimitNumbers): Decoded {
  const length = lengthOfFront(bytes);
  instance.limit(limits);
  const checked = instance.buffer(length);
  checked.set(length === bytes.length ? bytes : bytes.subarray(0, length));
  const used = instance.decode(version, length);
  if (used === 0) return { kind: "more", least: instance.least };
  return { kind: "whole", packet: read(checked, bytes, used, version), used };
}

/**
 * Returns the number of bytes to check: those of the first packet, or of its fixed header if the
 * packet is not there as a whole, so that bytes which arrive bit by bit are not copied each time.
 */
function lengthOfFront(bytes: Uint8Array): number {
  const most = Math.min(bytes.length, MAX_HEADER_BYTES);
  let length = 0;
  for (let at = 1; at < most; at += 1) {
    const byte = bytes[at]!;
    length += (byte & 0x7f) << (7 * (at - 1));
    if (byte < 0x80) return at + 1 + length <= bytes.length ? at + 1 + length : at + 1;
  }
  return most;
}

/** Reads the packet in the first `end` bytes, which the module has checked. */
export function read(checked: Uint8Array, given: Uint8Array, end: number, version: Version): Packet {
  const reader = new PacketReader(checked, given);
  const first = reader.byte();
  reader.number();
  switch (first >> 4) {
    case 3:
      return readPublish(reader, first, end, version);
    case 1:
      return readConnect(reader);
    case 2:
      return { kind: "connack", sessionPresent: reader.byte() === 1, reason: reader.byte(), properties: properties(reader, version) };
    case 4:
      return readAck(reader, "puback", end, version);
    case 5:
      return readAck(reader, "pubrec", end, version);
    case 6:
      return readAck(reader, "pubrel", end, version);
    case 7:
      return readAck(reader, "pubcomp", end, version);
    case 8:
      return readSubscribe(reader, end, version);
    case 9:
      return readSuback(reader, "suback", end, version);
    case 10:
      return readUnsubscribe(reader, end, version);
    case 11:
      return readSuback(reader, "unsuback", end, version);
    case 12:
      return { kind: "pingreq" };
    case 13:
      return { kind: "pingresp" };
    case 14:
      return readEnd(reader, "disconnect", end, version);
    default:
      return readEnd(reader, "auth", end, version);
  }
}

/** Returns the topic of a PUBLISH that the module has checked. */
export function topicOf(checked: Uint8Array): string {
  const reader = new PacketReader(checked, checked);
  reader.byte();
  reader.number();
  return reader.text();
}

function readPublish(reader: PacketReader, first: number, end: number, version: Version): Publish {
  const topic = reader.text();
  const qos = ((first >> 1) & 3) as Qos;
  const id = qos === 0 ? undefined : reader.two();
  const own = properties(reader, version);
  return {
    kind: "publish",
    topic: topic === "" ? undefined : topic,
    payload: reader.bytes(end),
    qos,
    retain: (first & 1) !== 0,
    dup: (first & 8) !== 0,
    id,
    properties: own,
  };
}

function readConnect(reader: PacketReader): Connect {
  reader.text();
  const version = reader.byte() as Version;
  const flags = reader.byte();
  const keepAlive = reader.two();
  const own = properties(reader, version);
  const clientId = reader.text();
  const will = (flags & 4) === 0 ? undefined : readWill(reader, flags, version);
  const userName = (flags & 0x80) === 0 ? undefined : reader.text();
  const password = (flags & 0x40) === 0 ? undefined : reader.binary();
  return { kind: "connect", version, cleanStart: (flags & 2) !== 0, keepAlive, clientId, userName, password, will, properties: own };
}

function readWill(reader: PacketReader, flags: number, version: Version): Will {
  const own = properties(reader, version);
  const topic = reader.text();
  const payload = reader.binary();
  return { topic, payload, qos: ((flags >> 3) & 3) as Qos, retain: (flags & 0x20) !== 0, properties: own };
}

function readAck(reader: PacketReader, kind: Ack["kind"], end: number, version: Version): Ack {
  const id = reader.two();
  return { kind, id, reason: reason(reader, end), properties: lastProperties(reader, end, version) };
}

function readEnd(reader: PacketReader, kind: End["kind"], end: number, version: Version): End {
  return { kind, reason: reason(reader, end), properties: lastProperties(reader, end, version) };
}

function readSubscribe(reader: PacketReader, end: number, version: Version): Packet {
  const id = reader.two();
  const own = properties(reader, version);
  const subscriptions: Subscription[] = [];
  while (reader.at < end) {
    const filter = reader.text();
    const options = reader.byte();
    subscriptions.push({
      filter,
      qos: (options & 3) as Qos,
      noLocal: (options & 4) !== 0,
      retainAsPublished: (options & 8) !== 0,
      retainHandling: (options >> 4) as 0 | 1 | 2,
    });
  }
  return { kind: "subscribe", id, subscriptions, properties: own };
}

function readSuback(reader: PacketReader, kind: Suback["kind"], end: number, version: Version): Suback {
  const id = reader.two();
  const own = properties(reader, version);
  const reasons: number[] = [];
  while (reader.at < end) reasons.push(reader.byte());
  return { kind, id, reasons, properties: own };
}

function readUnsubscribe(reader: PacketReader, end: number, version: Version): Packet {
  const id = reader.two();
  const own = properties(reader, version);
  const filters: string[] = [];
  while (reader.at < end) filters.push(reader.text());
  return { kind: "unsubscribe", id, filters, properties: own };
}

function properties(reader: PacketReader, version: Version): Properties {
  return version === 5 ? readProperties(reader) : NO_PROPERTIES;
}

/** Reads a reason code, which may be left out at the end. */
function reason(reader: PacketReader, end: number): number {
  return reader.at < end ? reader.byte() : 0;
}

/** Reads properties, which may be left out at the end. */
function lastProperties(reader: PacketReader, end: number, version: Version): Properties {
  return reader.at < end ? properties(reader, version) : NO_PROPERTIES;
}

/** The most bytes of a fixed header. */
const MAX_HEADER_BYTES = 5;
