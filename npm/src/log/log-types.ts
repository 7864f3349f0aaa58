// The types of records, proofs and segments of a decision log.
//
// Numbers of 64 bits above 2^53 - 1, which no log reaches, are refused as malformed.

/** The parts that all records have. */
export interface RecordParts {
  /** The thread or isolate that wrote the record. */
  readonly stream: number;
  /** A number that the host gives to whoever asked; 0 is the host itself. */
  readonly caller: number;
  /** The number of the record in its stream, modulo 2^32, without gaps. */
  readonly sequence: number;
}

/** The form in which a log in JavaScript has ids. */
export type IdForm = "clear" | "pseudonym" | "absent";

/** An answer: `limited` is allowed by the policies and denied by a rate limit. */
export type Answer = "allowed" | "denied" | "limited";

/** The answer for one action. */
export interface RecordedOutcome {
  /** The number of the kind, version, scope and action, which a {@link TargetRecord} defines. */
  readonly target: number;
  readonly answer: Answer;
}

/** An id, or what stands for it. */
export type Identity =
  | { readonly kind: "absent" }
  | { readonly kind: "clear"; readonly id: string }
  /** A keyed digest of 16 bytes, equal for equal ids. */
  | { readonly kind: "pseudonym"; readonly digest: Uint8Array }
  /** A commitment of 32 bytes, which a sealed value beside the log opens. */
  | { readonly kind: "commitment"; readonly digest: Uint8Array };

/** The evidence for a decision: the bytes that were read, the request, or a digest. */
export interface RecordedEvidence {
  readonly kind: "read" | "request" | "digest" | "committed-read" | "committed-request" | "committed-digest";
  readonly bytes: Uint8Array;
}

/** A request was decided. */
export interface DecisionRecord extends RecordParts {
  readonly kind: "decision";
  /** The time of the decision, in milliseconds since 1970; it has microseconds as a fraction. */
  readonly time: number;
  /** The number of the policies that decided, which a {@link PoliciesRecord} defines. */
  readonly policies: number;
  readonly outcomes: readonly RecordedOutcome[];
  readonly principal: Identity;
  readonly resource: Identity;
  /** The trace that the request belongs to, 16 bytes. */
  readonly trace: Uint8Array | undefined;
  readonly requestId: string | undefined;
  /** True if the general path decided. */
  readonly isGeneral: boolean;
  /** True if an id or the evidence was longer than a record holds. */
  readonly isCut: boolean;
  readonly evidence: RecordedEvidence | undefined;
}

/** Policies came into force under a number. */
export interface PoliciesRecord extends RecordParts {
  readonly kind: "policies";
  readonly time: number;
  readonly number: number;
  readonly revision: number;
  /** The root of the content, 32 bytes. */
  readonly root: Uint8Array;
  readonly name: string;
}

/** A kind, version, scope and action have a number under these policies from here on. */
export interface TargetRecord extends RecordParts {
  readonly kind: "target";
  readonly policies: number;
  readonly number: number;
  readonly resourceKind: string;
  readonly policyVersion: string;
  readonly scope: string;
  readonly action: string;
}

/** Records of a stream were not written. */
export interface LostRecord extends RecordParts {
  readonly kind: "lost";
  readonly time: number;
  readonly ofStream: number;
  readonly first: number;
  readonly count: number;
  readonly reason: string;
}

/** The clock of the host went back. */
export interface ClockRecord extends RecordParts {
  readonly kind: "clock";
  readonly time: number;
  /** The highest time before. */
  readonly before: number;
}

/** The process that writes started or stopped. */
export interface ProcessRecord extends RecordParts {
  readonly kind: "process";
  readonly time: number;
  readonly event: "started" | "stopped";
  /** A random number of the process, 16 bytes. */
  readonly instance: Uint8Array;
  readonly version: string;
}

/** Keys of subjects were deleted. */
export interface ErasureRecord extends RecordParts {
  readonly kind: "erasure";
  readonly time: number;
  readonly keys: number;
}

/** The settings of the log. */
export interface SettingsRecord extends RecordParts {
  readonly kind: "settings";
  readonly time: number;
  readonly text: string;
}

/** A search asked which of many resources are allowed. */
export interface SearchRecord extends RecordParts {
  readonly kind: "search";
  readonly time: number;
  readonly policies: number;
  readonly target: number;
  readonly asked: number;
  readonly allowed: number;
}

/** An operator accepted that the end of the log is missing. */
export interface LossRecord extends RecordParts {
  readonly kind: "loss";
  readonly time: number;
  readonly frames: number;
  readonly found: number;
  readonly reason: string;
}

/** A record of a decision log. */
export type LogRecord =
  | DecisionRecord
  | PoliciesRecord
  | TargetRecord
  | LostRecord
  | ClockRecord
  | ProcessRecord
  | ErasureRecord
  | SettingsRecord
  | SearchRecord
  | LossRecord;

/** A record that was proved. */
export interface ProvedRecord {
  readonly record: LogRecord;
  /** The number of the record in the log. */
  readonly number: number;
  /** The number of its frame in the log. */
  readonly frame: number;
  readonly checkpoint: {
    /** The name of the log. */
    readonly origin: string;
    /** The number of frames of the log. */
    readonly size: number;
    /** The root of the log, 32 bytes. */
    readonly root: Uint8Array;
    /** The time of the signature in milliseconds since 1970, as its signer says. */
    readonly time: number;
  };
}

/** A frame of a segment that was verified. */
export interface Frame {
  /** The offset of the frame in the segment. */
  readonly offset: number;
  /** The number of the first record. */
  readonly first: number;
  /** The number of records. */
  readonly count: number;
  /** The records that were known to be on the disk when the frame was written. */
  readonly durable: number;
  /** The lowest and the highest time of the records, in milliseconds since 1970. */
  readonly lowest: number;
  readonly highest: number;
  /** The digest of the head before, 32 bytes; zeros in the first frame of a log. */
  readonly before: Uint8Array;
  /** The root of the records, 32 bytes. */
  readonly root: Uint8Array;
  /** The digest of the head, 32 bytes. */
  readonly digest: Uint8Array;
  /** The records, read one by one. The bytes of the segment must not change meanwhile. */
  readonly records: Iterable<LogRecord>;
}

/** A segment, whose frames are verified as they are read. */
export interface Segment {
  /**
   * Returns the frames. Each is verified: its head, that the head before is the one of the frame before,
   * that its records are those of the head, and the form of each.
   *
   * @throws WardgateError with the code `malformed-log` and the `offset` where the segment is not as
   *   written. A frame that was cut off at the end is such a place too.
   */
  frames(): IterableIterator<Frame>;
  /** Returns the records of all frames with their numbers, verified frame by frame. */
  records(): IterableIterator<readonly [number: number, record: LogRecord]>;
}
