// The words for faults, by the numbers of `crates/mqtt-wasm/src/faults.rs`, which compares them.

/** Returns the message of a fault. `reason` tells names from filters. */
export function faultMessage(number: number, value: number, reason: number): string {
  const words = FAULTS.get(number) ?? "a fault";
  const whole = words
    .replace("{hex}", () => `0x${value.toString(16).padStart(2, "0")}`)
    .replace("{action}", () => ACTIONS[value]!)
    .replace("{}", () => String(value));
  if (number < FIRST_OF_TOPICS || number > LAST_OF_TOPICS) return whole;
  return `${reason === INVALID_FILTER ? "topic filter" : "topic name"}: ${whole}`;
}

const INVALID_FILTER = 0x8f;
const FIRST_OF_TOPICS = 40;
const LAST_OF_TOPICS = 49;
const ACTIONS = ["connect", "will", "publish", "subscribe"];

const FAULTS: ReadonlyMap<number, string> = new Map([
  [1, "unknown type of packet"],
  [2, "reserved flags in the fixed header"],
  [3, "a length that is too long or not in its shortest form"],
  [4, "a packet larger than the limit"],
  [5, "a field that runs past the end"],
  [6, "bytes after the last field"],
  [7, "a text that is not UTF-8"],
  [8, "U+0000 in a text"],
  [9, "packet identifier 0"],
  [10, "QoS 3"],
  [11, "DUP with QoS 0"],
  [12, "a protocol other than `MQTT`"],
  [13, "a protocol level other than 4 and 5"],
  [14, "the reserved flag of CONNECT"],
  [15, "flags of a will without a will"],
  [16, "a password without user name"],
  [17, "an empty client id without clean session"],
  [18, "reserved flags of CONNACK, or a session in a refusal"],
  [19, "neither topic nor topic alias"],
  [20, "topic alias 0"],
  [21, "no authentication method"],
  [22, "more user properties than the limit"],
  [23, "an empty list"],
  [24, "more filters than the limit"],
  [25, "reserved options of a subscription"],
  [26, "retain handling 3"],
  [27, "No Local for a shared subscription"],
  [28, "reason code {hex}"],
  [29, "unknown property {hex}"],
  [30, "misplaced property {hex}"],
  [31, "property {hex} a second time"],
  [32, "wrong value of property {hex}"],
  [40, "a topic has at least one character"],
  [41, "the topic is too long: {} bytes"],
  [42, "the topic has too many levels: {}"],
  [43, "a topic has no U+0000, at byte {}"],
  [44, "a topic name has no wildcard, at byte {}"],
  [45, "`+` does not fill its level, at byte {}"],
  [46, "`#` is not the whole of the last level, at byte {}"],
  [47, "the group after `$share/` is empty"],
  [48, "the group after `$share/` has a wildcard, at byte {}"],
  [49, "no filter after `$share/` and its group"],
  [50, "the set of filters is full"],
  [60, "a first packet other than CONNECT"],
  [61, "a second CONNECT"],
  [62, "a first packet other than CONNACK and AUTH"],
  [63, "a second CONNACK"],
  [64, "a packet that only the other side sends"],
  [65, "AUTH without an authentication method"],
  [66, "a packet before the end of an authentication"],
  [67, "a subscription identifier in PUBLISH"],
  [68, "a topic alias above the maximum"],
  [69, "a topic alias that stands for no topic"],
  [70, "more unacknowledged messages than the maximum"],
  [71, "a packet identifier that is in use"],
  [72, "an acknowledgement of nothing"],
  [73, "an acknowledgement with a wrong number of reason codes"],
  [74, "a packet larger than its receiver allows"],
  [75, "too much that waits for an answer of the broker"],
  [76, "no CONNECT in time"],
  [77, "no CONNACK in time"],
  [78, "silence for longer than the keep-alive"],
  [79, "DISCONNECT"],
  [80, "CONNACK refuses"],
  [81, "the network connection has ended"],
  [82, "the gate was told to close"],
  [83, "{action} is not allowed"],
  [84, "{action} is no longer allowed"],
]);
