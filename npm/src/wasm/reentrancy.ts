// Whose turn it is with the one frame that everybody shares.
//
// Reading a request may run code of the caller, and that code may decide other requests, reload a
// bundle or dispose of one. Each of those takes a new turn, so whoever still holds the turn that he took
// finds the frame, the handle and the plans as he left them.

/** The state; the functions below are for those who are not in a hurry. */
export const callState = {
  serial: 0,
  /** A call into the module that decides is under way. Still so after an exception, it was a trap. */
  isDeciding: false,
  /** The same of every other call. Those may run code of the caller, which may call in again. */
  isInside: false,
};

/** Takes a turn, and returns what tells it from others. */
export function begin(): number {
  // Small integers only: a larger number would be an object each time.
  return (callState.serial = (callState.serial + 1) & 0x3fff_ffff);
}
