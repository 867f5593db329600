/* Functions that return operations of a SCIM PATCH in the form that most clients use. */

export const add = <Value>(path: string, value: Value) => ({ op: 'add', path, value });
export const replace = <Value>(path: string, value: Value) => ({ op: 'replace', path, value });
export const remove = (path: string) => ({ op: 'remove', path });
