// Detects calls that interrupt a decision on the shared frame.
//
// Reading a request may run code of the caller, and that code may decide other requests, reload a
// bundle or dispose of one. Each of those takes a new serial. If the serial of a decision is still
// current, the frame, the handle and the fast paths are unchanged.

/** The state of the calls. Hot functions read it directly. */
export const callState = {
  serial: 0,
  /**
   * True if a call that decides is inside the module. After an exception it is still true: the
   * module trapped.
   */
  isDeciding: false,
  /**
   * True if any other call is inside the module. Those may run code of the caller, which may call
   * in again.
   */
  isInside: false,
};

/** Takes a new serial and returns it. */
export function begin(): number {
  // Only small integers: a larger number would be an object each time.
  return (callState.serial = (callState.serial + 1) & 0x3fff_ffff);
}
