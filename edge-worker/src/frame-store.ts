// Frames of the decision log in R2: one object for each, named by the day of its first decision and its check.
//
// A queue delivers at least once. The name follows from the frame alone, and an object that is there is not written
// again, so each frame is stored once.

/** Stores the frames of a batch. What is no frame, or cannot be stored, is left to the queue, which has a dead letter queue for it. */
export async function storeFrames({ messages }: MessageBatch, bucket: R2Bucket | undefined): Promise<void> {
  await Promise.all(messages.map(async (message) => {
    try {
      if (bucket === undefined) throw new Error("the binding DECISIONS_R2 is missing");
      const frame = frameIn(message.body);
      await bucket.put(nameOf(frame), frame, { onlyIf: NOT_THERE });
      message.ack();
    } catch (thrown) {
      console.error(JSON.stringify({ event: "decision-log", message: String(thrown) }));
      message.retry();
    }
  }));
}

/** Returns the name of the object for a frame. */
export function nameOf(frame: Uint8Array): string {
  const micros = new DataView(frame.buffer, frame.byteOffset).getBigInt64(LOWEST_AT, true);
  const day = new Date(Number(micros / 1000n)).toISOString().slice(0, 10);
  const check = [...frame.subarray(CHECK_AT, HEAD_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `frames/${day}/${check}.wgf`;
}

function frameIn(body: unknown): Uint8Array {
  const bytes = body instanceof ArrayBuffer ? new Uint8Array(body) : body;
  if (bytes instanceof Uint8Array && bytes.length >= HEAD_BYTES && MAGIC.every((byte, at) => bytes[at] === byte)) return bytes;
  throw new Error("expected a frame in the queue, found another message");
}

const MAGIC = [0xd7, 0x57, 0x47, 0x6c];
const HEAD_BYTES = 128;
const LOWEST_AT = 32;
const CHECK_AT = 112;
const NOT_THERE = new Headers({ "If-None-Match": "*" });
