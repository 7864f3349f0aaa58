// The packets of mqtt-packet, an npm package, as those of `wardgate/mqtt`, and back. Values that are wrong stay so.

/** Returns true if the packet is one of MQTT 3.1, or of a bridge. */
export function isOld({ protocolVersion, protocolId, bridgeMode }) {
  return protocolVersion === 3 || protocolId === "MQIsdp" || bridgeMode === true;
}

/** Returns the packet that an object of mqtt-packet stands for. */
export function toPacket(object, version) {
  const properties = toProperties(object.properties);
  const { cmd: kind, messageId: id, reasonCode, returnCode } = object;
  const reason = reasonCode ?? returnCode ?? 0;
  switch (kind) {
    case "connect":
      return { kind, properties, ...toConnect(object, version) };
    case "connack":
      return { kind, sessionPresent: object.sessionPresent, reason, properties };
    case "publish": {
      const { payload, qos = 0, retain, dup } = object;
      return { kind, topic: text(object.topic), payload: payload ?? "", qos, retain, dup, id, properties };
    }
    case "subscribe":
      return { kind, id, subscriptions: object.subscriptions?.map(toSubscription), properties };
    case "unsubscribe":
      return { kind, id, filters: object.unsubscriptions, properties };
    case "suback":
    case "unsuback":
      return { kind, id, reasons: object.granted ?? [], properties };
    case "pingreq":
    case "pingresp":
      return { kind };
    case "disconnect":
    case "auth":
      return { kind, reason, properties };
    default:
      return { kind, id, reason, properties };
  }
}

function toConnect(object, version) {
  const { protocolId = "MQTT", protocolVersion = 4, clean = true, keepalive = 0, clientId, username, password, will } = object;
  // There is no member for the name of the protocol: another one is none of these packets.
  const level = protocolId === "MQTT" ? protocolVersion : protocolId;
  const cleanStart = clean;
  const names = { userName: text(username), password };
  return { version: level === version ? version : level, cleanStart, keepAlive: keepalive, clientId: text(clientId) ?? "", ...names, will: toWill(will) };
}

function toWill(will) {
  if (typeof will !== "object" || will === null) return will;
  const { topic, payload, qos, retain, properties } = will;
  return { topic: text(topic), payload: payload ?? "", qos, retain, properties: toProperties(properties) };
}

function toSubscription({ topic, qos, nl, rap, rh }) {
  return { filter: topic, qos, noLocal: nl ?? false, retainAsPublished: rap ?? false, retainHandling: rh ?? 0 };
}

function toProperties(properties) {
  if (properties === undefined || properties === null) return undefined;
  return Object.fromEntries(Object.entries(properties).map(toProperty));
}

function toProperty([name, value]) {
  switch (name) {
    case "subscriptionIdentifier":
      return ["subscriptionIdentifiers", Array.isArray(value) ? value : [value]];
    case "subscriptionIdentifiersAvailable":
      return ["subscriptionIdentifierAvailable", value];
    case "maximumQoS":
      return ["maximumQos", value];
    case "userProperties":
      return [name, Object.entries(value).flatMap(([key, values]) => [values].flat().map((one) => [key, one]))];
    default:
      return [name, value];
  }
}

/** Texts may be given as bytes there. */
function text(value) {
  return Buffer.isBuffer(value) ? value.toString() : value;
}

/** Returns the object of mqtt-packet for a packet, with what its own tests compare. */
export function fromPacket(packet) {
  const { kind: cmd, qos, retain, dup, topic, payload } = packet;
  return cmd === "publish" ? { cmd, retain, qos, dup, topic, payload } : { cmd, properties: packet.properties };
}
