/** Emulators name some errors with a prefix, so the end of the name decides. */
const MISSING = /(?:NonExistentQueue|QueueDoesNotExist|ResourceNotFoundException|NotFoundException)$/;
const UNSUPPORTED =
  /(?:UnknownOperationException|AccessDenied\w*|ValidationException|NotFoundException)$|^SyntaxError$/;

export const unlessMissing = <Result>(ask: () => Promise<Result>): Promise<Result | undefined> =>
  unless(MISSING, undefined, ask);

/** null where the emulator does not have the operation, or the credentials do not allow it: nothing is concluded. */
export const unlessUnsupported = <Result>(ask: () => Promise<Result>): Promise<Result | null> =>
  unless(UNSUPPORTED, null, ask);

async function unless<Result, Instead>(names: RegExp, instead: Instead, ask: () => Promise<Result>) {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Error && names.test(error.name)) return instead;
    throw error;
  }
}
