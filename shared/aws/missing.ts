/** Emulators name some errors with a prefix, so the end of the name decides. */
const MISSING = /(?:NonExistentQueue|QueueDoesNotExist|ResourceNotFoundException|NotFoundException)$/;
const UNSUPPORTED = /(?:UnknownOperationException|AccessDenied\w*|ValidationException|NotFoundException)$/;

export async function unlessMissing<Result>(ask: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Error && MISSING.test(error.name)) return undefined;
    throw error;
  }
}

/** null where the emulator does not have the operation, or the credentials do not allow it: nothing is concluded. */
export async function unlessUnsupported<Result>(ask: () => Promise<Result>): Promise<Result | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Error && (UNSUPPORTED.test(error.name) || error.name === 'SyntaxError')) return null;
    throw error;
  }
}
